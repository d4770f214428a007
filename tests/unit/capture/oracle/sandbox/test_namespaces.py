"""The counters of a network namespace."""

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
