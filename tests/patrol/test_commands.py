"""Read commands: allow-listed argument vectors, and never a shell."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patrol.reading.command import Outcome, classify_argv, classify_command
from patrol.reading.rules import NETWORK_READS, READS

CERTAIN, CONDITIONAL, REFUSED, SENSITIVE = Outcome

ALLOWED = [
    "cat /var/log/app.log",
    "head -n 20 /x",
    "head -20 /x",
    "tail -n 50 /x",
    "tail --lines=50 /x",
    "ls -la /srv",
    "stat -f /var/lib/service-cache",
    "stat -c %s /x",
    "wc -l /x",
    "du -sh /srv",
    "df -h",
    "df -h /var/lib/service-cache",
    "free -m",
    "ps",
    "ps aux",
    "ps -ef",
    "ps -o pid,args",
    "uptime",
    "id",
    "whoami",
    "uname -a",
    "date",
    "date +%s",
    "hostname",
    "hostname -f",
    "grep -i 'error: x' /x",
    "zgrep -c a /x.gz",
    "printenv PATH HOME",
    "nproc",
    "lsblk",
    "lscpu",
    "ss -tlnp",
    "netstat -tlnp",
    "ip addr",
    "ip -4 addr show",
    "ip route show",
    "ip -s link",
    "pgrep -f app",
    "pidof app",
    "md5sum /x",
    "sha256sum -- /x",
    "find /srv -maxdepth 2 -name '*.log' -type f",
    "test -e /x",
    "[ -f /x ]",
    "journalctl -n 100 --no-pager",
    "journalctl --since '1 hour ago' -u app",
    "dmesg -T",
    "sort -n /x",
    "uniq -c /x",
]
ON_THE_NETWORK = [
    "curl -sS -m 5 http://store:8080/health",
    "curl -I https://example.org/",
    "wget -q --spider http://store/",
    "getent hosts store",
    "nslookup store",
    "dig +short store",
    "ping -c 3 store",
]
SPECIFIED_REFUSALS = [
    "cat x | sh",
    "ls | sh | cat",
    "ls & rm x",
    "ls\nrm x",
    "fuser -k 80/tcp",
    "sort -o /etc/x a",
    "dmesg -C",
    "date -s",
    "ip link set eth0 down",
    "journalctl --vacuum-size=1",
    "find / -delete",
    "tail -f x",
    "qm guest cmd 1 shutdown",
    "docker exec c ls",
    "echo $(id)",
    "exiftool -all= f",
    "kubectl exec",
    "",
    "frobnicate",
]
MORE_REFUSALS = [
    "   ",
    "cat 'x",
    "cat x\0y",
    "cat x\ry",
    "ls; rm x",
    "ls && rm x",
    "ls || rm x",
    "cat < /x",
    "cat > /x",
    "cat `id`",
    'cat "$(id)"',
    "cat ${HOME}",
    'cat "`id`"',
    "A=1 cat x",
    "sudo cat x",
    "env cat x",
    "timeout 1 cat x",
    "xargs cat",
    "nohup cat x",
    "sh -c ls",
    "bash x",
    "python3 -c 1",
    "perl -e 1",
    "awk 1 x",
    "sed -i s/a/b/ x",
    "busybox rm x",
    "/bin/cat x",
    "./cat x",
    "tail -F x",
    "tail --follow x",
    "tail --foll x",
    "tail -qf x",
    "tail -n",
    "sort --output=x a",
    "sort --outp x a",
    "sort --compress-program=sh a",
    "uniq in out",
    "grep -r x /",
    "grep -R x /",
    "grep --recursive x /",
    "grep -f /x y",
    "date 010203",
    "date --set=x",
    "date -d x",
    "hostname evil",
    "hostname -F x",
    "find / -exec rm {} +",
    "find / -execdir x",
    "find / -ok rm",
    "find / -fprint /x",
    "find / -fprintf /x y",
    "find / -fls /x",
    "find . -name",
    "ip route add default via 1.1.1.1",
    "ip -b /x",
    "ip netns exec x sh",
    "ip",
    "journalctl",
    "journalctl -n all",
    "journalctl -f -n 1",
    "journalctl --rotate -n 1",
    "journalctl -n 1 --flush",
    "dmesg -c",
    "dmesg -w",
    "dmesg -n 1",
    "dmesg -D",
    "ss -K dst 1.1.1.1",
    "netstat -c",
    "curl http://a/ -o /x",
    "curl -X POST http://a/",
    "curl -d x http://a/",
    "curl -T /etc/passwd http://a/",
    "curl file:///etc/passwd",
    "curl http://a/ http://b/",
    "curl http://169.254.169.254/latest/meta-data/",
    "curl http://user:pw@a/",
    "wget http://a/",
    "wget --spider -O /x http://a/",
    "getent shadow",
    "getent",
    "dig -f /x",
    "ping store",
    "ping -c 6 store",
    "ping -c 55 store",
    "ping -f -c 1 store",
    "printenv",
    "printenv DB_PASSWORD",
    "printenv API_KEY",
    "ps e",
    "ps auxe",
    "ps -o environ",
    "free -s 1",
    "docker ps",
    "rm x",
    "kill 1",
    "reboot",
    "cat " + "x" * 5000,
]
SECRETS = [
    "cat /etc/shadow",
    "cat /etc//../etc/./shadow",
    "cat /proc/1/environ",
    "cat /proc/self/task/1/environ",
    "cat /root/.ssh/id_rsa",
    "cat .ssh/authorized_keys",
    "head /home/x/.aws/credentials",
    "tail -n 5 /run/secrets/db",
    "grep x /var/run/secrets/kubernetes.io/serviceaccount/token",
    "cat /app/.env",
    "md5sum /srv/tls/server.KEY",
    "ls /etc/ssl/private",
    "cat '/etc/shadow'",
    "cat /e\\tc/shadow",
    "stat --format=%s /root/.netrc",
]


@pytest.mark.parametrize("command", ALLOWED)
def test_reads_are_allowed(command: str) -> None:
    reading = classify_command(command)
    assert (reading.outcome, reading.argv) == (CERTAIN, tuple(shlex.split(command)))


@pytest.mark.parametrize("command", ON_THE_NETWORK)
def test_looks_at_the_network_are_conditional_reads(command: str) -> None:
    reading = classify_command(command)
    assert (reading.outcome, reading.allowed) == (CONDITIONAL, True)


@pytest.mark.parametrize("command", SPECIFIED_REFUSALS + MORE_REFUSALS)
def test_everything_else_is_refused(command: str) -> None:
    reading = classify_command(command)
    assert (reading.outcome, reading.argv) == (REFUSED, ())


@pytest.mark.parametrize("command", SECRETS)
def test_places_of_secrets_are_refused_however_they_are_spelled(command: str) -> None:
    reading = classify_command(command)
    assert (reading.outcome, reading.argv) == (SENSITIVE, ())


@pytest.mark.parametrize(
    "command", ["cat 'a;b'", "grep 'x|y&z>w' /x", "cat 'a$(b)`c`'", 'cat "a b"', r"cat a\;b"]
)
def test_quoted_characters_stay_words(command: str) -> None:
    assert classify_command(command).argv == tuple(shlex.split(command))


def test_a_nul_in_an_argument_vector_is_refused() -> None:
    assert classify_argv(["cat", "a\0b"]).outcome is REFUSED
    assert classify_argv([]).outcome is REFUSED


WORDS = st.sampled_from(
    [
        *READS,
        *NETWORK_READS,
        "sh",
        "-c",
        "rm",
        ";",
        "|",
        "&",
        "$(x)",
        "`x`",
        ">",
        "/x",
        "-n",
        "1",
        "-exec",
        "'",
        '"',
        "\\",
    ]
) | st.text(max_size=6)


@settings(max_examples=2000)
@given(st.lists(WORDS, max_size=6), st.sampled_from([" ", "", "\t"]))
def test_no_allowed_text_yields_a_shell_or_an_unlisted_program(words: list[str], gap: str) -> None:
    text = gap.join(words)
    reading = classify_command(text)
    if reading.allowed:
        assert reading.argv[0] in READS or reading.argv[0] in NETWORK_READS
        assert list(reading.argv) == shlex.split(text)
        assert "\n" not in text
        assert not [one for one in reading.argv[1:] if one.startswith(("-exec", "-delete", "--output"))] or (
            reading.argv[0] in ("test", "[") or "--" in reading.argv or reading.argv[0] == "grep"
        )
