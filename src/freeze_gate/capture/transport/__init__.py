"""The recorder: HTTP calls observed from outside, merged into what one record says about the transport."""
