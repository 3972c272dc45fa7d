"""What a release is made of, as SPDX 2.3 JSON: our module's dependencies and the archives that are linked in."""

import datetime
import hashlib
import json
import re

def module_version(module_text):
    return re.search(r'module\(\s*name = "berth",\s*version = "([^"]+)"', module_text).group(1)


def module_deps(module_text):
    """[(name, version)] of what is built into a release, so without dev dependencies."""
    deps = []
    for line in re.findall(r"bazel_dep\(([^)]*)\)", module_text):
        if "dev_dependency = True" in line:
            continue
        name, version = re.search(r'name = "([^"]+)"', line), re.search(r'version = "([^"]+)"', line)
        deps.append((name.group(1), version.group(1)))
    return sorted(deps)


def source_archives(sources_text):
    """{module: (file name, sha256)} of the archives that stand for modules where there is no registry."""
    found = {}
    for line in sources_text.splitlines():
        if line and not line.startswith("#"):
            module, path, digest = line.split()
            found[module.lstrip("@")] = (path.rsplit("/", 1)[1], digest)
    return found


def _package(name, version, kind, file_name=None, digest=None):
    package = {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{kind}-{name}"),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "filesAnalyzed": False,
    }
    if file_name:
        package["packageFileName"] = file_name
        package["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
    return package


def make(module_text, sources_text, linked, when):
    """`linked`: [(name, version)] of the system's archives that are linked in."""
    version = module_version(module_text)
    archives = source_archives(sources_text)
    parts = [_package(name, dep, "module", *archives.get(name, ())) for name, dep in module_deps(module_text)]
    if "libcgroup" in archives:
        name, digest = archives["libcgroup"]
        parts.append(_package("libcgroup", re.search(r"_([0-9.]+)\.orig", name).group(1), "source", name, digest))
    parts += [_package(name, found, "system") for name, found in sorted(linked)]
    berth = _package("berth", version, "module")
    berth["licenseConcluded"] = berth["licenseDeclared"] = "Apache-2.0"
    content = json.dumps(parts, sort_keys=True)
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"berth-{version}",
        "documentNamespace": f"urn:berth:{version}:{hashlib.sha256(content.encode()).hexdigest()}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(when, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: berth-dist"],
        },
        "packages": [berth] + parts,
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                           "relatedSpdxElement": berth["SPDXID"]}] +
                         [{"spdxElementId": berth["SPDXID"], "relationshipType": "DEPENDS_ON",
                           "relatedSpdxElement": part["SPDXID"]} for part in parts],
    }
    return json.dumps(document, indent=2) + "\n"
