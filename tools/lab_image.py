"""Builds the image that stands in for alpine where no registry can be reached: one static busybox, no layers.

    python tools/lab_image.py --context lab

The image is named as what it is (pulse-qual-lab:1), never as alpine.
A second call with the same busybox changes nothing.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import click

REPOSITORY = "pulse-qual-lab"
TAG = "1"
PASSWD = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"


def rootfs(busybox: bytes, applets: tuple[str, ...]) -> bytes:
    """A tar of the root file system: busybox, a link for each applet, folders that programs expect."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, mode in (
            ("bin", 0o755),
            ("etc", 0o755),
            ("tmp", 0o1777),
            ("var", 0o755),
            ("var/lib", 0o755),
        ):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)
        for name, mode, content in (("bin/busybox", 0o755, busybox), ("etc/passwd", 0o644, PASSWD)):
            file = tarfile.TarInfo(name)
            file.mode, file.size = mode, len(content)
            tar.addfile(file, io.BytesIO(content))
        for applet in applets:
            link = tarfile.TarInfo(f"bin/{applet}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
    return buffer.getvalue()


def applets_of(busybox: Path) -> tuple[str, ...]:
    """The names that a busybox answers to; UsageError when it is none."""
    from contract.errors import UsageError

    listed = subprocess.run([str(busybox), "--list"], capture_output=True, check=False, text=True, timeout=30)
    if listed.returncode != 0 or "sh" not in listed.stdout.split():
        raise UsageError(f"{busybox} is no busybox", where="--busybox", hint="Debian: busybox-static")
    return tuple(sorted(set(listed.stdout.split()) - {"busybox"}))


def existing(api: Any, content: str) -> str:
    """The id of the image, if it is there with exactly this content; otherwise empty."""
    import docker.errors

    try:
        image = api.inspect_image(f"{REPOSITORY}:{TAG}")
    except docker.errors.ImageNotFound:
        return ""
    # A label of ours would show on every container, and a model might make something of it.
    same = image["RootFS"]["Layers"] == [f"sha256:{content}"] and not image["Config"]["Labels"]
    return str(image["Id"]) if same else ""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--context", required=True, metavar="NAME", help="Docker context of the engine that gets the image."
)
@click.option(
    "--busybox",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=Path("/bin/busybox"),
    show_default=True,
    help="A statically linked busybox (Debian: busybox-static).",
)
def main(context: str, busybox: Path) -> None:
    """Build pulse-qual-lab:1 in a named engine, unless it is there already."""
    from contract.errors import PatrolQualificationError
    from harness.lab.docker_engine import connect
    from harness.lab.sdk_errors import calling
    from harness.lab.target import resolve_target

    try:
        target = resolve_target(context=context)
        tar = rootfs(busybox.read_bytes(), applets_of(busybox))
        engine = connect(target)
        try:
            with calling("import the image"):
                image, state = provide(engine.api, tar)
        finally:
            engine.close()
    except PatrolQualificationError as exc:
        click.echo(f"lab_image: {exc}", err=True)
        sys.exit(exc.exit_code)
    click.echo(f"{REPOSITORY}:{TAG} {image} ({state})")


def provide(api: Any, tar: bytes) -> tuple[str, str]:
    """The id of the image with this root file system, and whether it had to be built."""
    content = hashlib.sha256(tar).hexdigest()
    if image := existing(api, content):
        return image, "already there"
    changes = ["ENV PATH=/bin", 'CMD ["sh"]']
    api.import_image_from_data(tar, repository=REPOSITORY, tag=TAG, changes=changes)
    return str(api.inspect_image(f"{REPOSITORY}:{TAG}")["Id"]), "built"


if __name__ == "__main__":
    main()
