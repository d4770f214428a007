"""The counters of a network namespace, and the paths of a mount table."""

import pytest

from freeze_gate.capture.oracle.sandbox import namespaces

IPV4 = """\
Ip: Forwarding DefaultTTL InReceives OutRequests OutDiscards OutNoRoutes ReasmTimeout
Ip: 2 64 10 10 0 3 0
Icmp: InMsgs InErrors
Icmp: 0 0
"""
IPV6 = "Ip6InReceives                   \t4\nIp6OutNoRoutes                  \t2\nIcmp6InMsgs                     \t0\n"


def test_the_ipv4_counter_is_read_by_its_name() -> None:
    """The column is found by its name: kernels add columns."""
    assert namespaces.parse_snmp(IPV4) == 3


def test_the_ipv6_counter_is_read_by_its_name() -> None:
    """One line, one counter."""
    assert namespaces.parse_snmp6(IPV6) == 2


def test_a_kernel_without_a_protocol_counts_nothing_of_it() -> None:
    """Where there is no IPv6, its table is not there."""
    assert (namespaces.parse_snmp(""), namespaces.parse_snmp6("")) == (0, 0)


def test_this_machine_has_counters() -> None:
    """The kernel's own tables are understood."""
    assert namespaces.count_unroutable() >= 0


TABLE = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 27 254:0 /vol/a /mnt/vol\\040a rw,relatime - ext4 /dev/vda rw
41 27 254:0 /vol/a/job/freeze-gate/fixtures /mnt/pins rw,relatime - ext4 /dev/vda rw
42 27 254:0 /vol/b /mnt/b rw,relatime - ext4 /dev/vda rw
43 27 8:1 / /data rw,relatime - xfs /dev/sdb rw
44 27 8:1 /volume /srv rw,relatime - xfs /dev/sdb rw
"""


@pytest.mark.parametrize(
    ("bundle", "others"),
    [
        ("/vol/a/job/freeze-gate", ["/mnt/pins", "/mnt/vol a/job/freeze-gate"]),
        ("/mnt/vol a/job/freeze-gate", ["/mnt/pins", "/vol/a/job/freeze-gate"]),
        ("/vol/c/freeze-gate", []),
        ("/data/freeze-gate", []),
        ("/data/volume/freeze-gate", ["/srv/freeze-gate"]),
        ("/srv/freeze-gate", ["/data/volume/freeze-gate"]),
    ],
)
def test_every_path_to_a_bundle_is_read_from_the_mount_table(bundle: str, others: list[str]) -> None:
    """A file system, or a folder of it, can be mounted in several places; so can a part of the bundle."""
    assert namespaces.find_other_paths(bundle, TABLE) == others
