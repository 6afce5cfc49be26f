// Every published capability (docs/contract.md#capabilities): what a role grants and what a method requires. v2 JSON has the
// enum name (`CAP_IAM_GROUPS_LIST`). People, the STS and v1 use the friendly name (`groups.list`). The `cap` claim of a
// token uses the bit.
import { enumeration } from "./field.ts";

// number, enum name, friendly name, bit in the token's bit set, flag
const ROWS = [
  "2 CAP_INTERNAL internal 95",
  "101 CAP_IAM_GROUPS_CREATE groups.create 1",
  "102 CAP_IAM_GROUPS_UPDATE groups.update 2",
  "103 CAP_IAM_GROUPS_LIST groups.list 3",
  "104 CAP_IAM_GROUPS_DELETE groups.delete 4",
  "201 CAP_IAM_GROUP_INVITES_CREATE group_invites.create 5",
  "203 CAP_IAM_GROUP_INVITES_LIST group_invites.list 6",
  "204 CAP_IAM_GROUP_INVITES_DELETE group_invites.delete 7",
  "301 CAP_IAM_ROLES_CREATE roles.create 8",
  "302 CAP_IAM_ROLES_UPDATE roles.update 9",
  "303 CAP_IAM_ROLES_LIST roles.list 10",
  "304 CAP_IAM_ROLES_DELETE roles.delete 11",
  "401 CAP_IAM_ROLE_BINDINGS_CREATE role_bindings.create 12",
  "402 CAP_IAM_ROLE_BINDINGS_UPDATE role_bindings.update 13",
  "403 CAP_IAM_ROLE_BINDINGS_LIST role_bindings.list 14",
  "404 CAP_IAM_ROLE_BINDINGS_DELETE role_bindings.delete 15",
  "501 CAP_TENANT_CLUSTERS_CREATE clusters.create 16 deprecated",
  "502 CAP_TENANT_CLUSTERS_UPDATE clusters.update 17 deprecated",
  "503 CAP_TENANT_CLUSTERS_LIST clusters.list 18 deprecated",
  "504 CAP_TENANT_CLUSTERS_DELETE clusters.delete 19 deprecated",
  "505 CAP_TENANT_CLUSTERS_DISCOVER clusters.discover 51 deprecated",
  "603 CAP_TENANT_RECORDS_LIST records.list 20 deprecated",
  "613 CAP_TENANT_RECORD_CONTEXTS_LIST record_contexts.list 48 deprecated",
  "623 CAP_TENANT_RECORD_SIGNATURES_LIST record_signatures.list 49",
  "633 CAP_TENANT_RECORD_POLICY_RESULTS_LIST record_policy_results.list 50 deprecated",
  "640 CAP_TENANT_RISKS_LIST risks.list 68 deprecated",
  "650 CAP_TENANT_SBOMS_LIST sboms.list 69",
  "660 CAP_TENANT_VULN_REPORTS_LIST vuln_reports.list 70",
  "670 CAP_TENANT_ATTESTATIONS_LIST attestations.list 71",
  "701 CAP_IAM_ACCOUNT_ASSOCIATIONS_CREATE account_associations.create 21",
  "702 CAP_IAM_ACCOUNT_ASSOCIATIONS_UPDATE account_associations.update 22",
  "703 CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST account_associations.list 23",
  "704 CAP_IAM_ACCOUNT_ASSOCIATIONS_DELETE account_associations.delete 24",
  "801 CAP_IAM_POLICY_CREATE policy.create 25 deprecated",
  "802 CAP_IAM_POLICY_UPDATE policy.update 26 deprecated",
  "803 CAP_IAM_POLICY_LIST policy.list 27 deprecated",
  "804 CAP_IAM_POLICY_DELETE policy.delete 28 deprecated",
  "901 CAP_IAM_IDENTITY_CREATE identity.create 29",
  "902 CAP_IAM_IDENTITY_UPDATE identity.update 30",
  "903 CAP_IAM_IDENTITY_LIST identity.list 31",
  "904 CAP_IAM_IDENTITY_DELETE identity.delete 32",
  "1003 CAP_TENANT_NODES_LIST nodes.list 33 deprecated",
  "1103 CAP_TENANT_NAMESPACES_LIST namespaces.list 34 deprecated",
  "1203 CAP_TENANT_WORKLOADS_LIST workloads.list 35 deprecated",
  "1301 CAP_IAM_IDENTITY_PROVIDERS_CREATE identity_providers.create 52",
  "1302 CAP_IAM_IDENTITY_PROVIDERS_UPDATE identity_providers.update 53",
  "1303 CAP_IAM_IDENTITY_PROVIDERS_LIST identity_providers.list 54",
  "1304 CAP_IAM_IDENTITY_PROVIDERS_DELETE identity_providers.delete 55",
  "1305 CAP_IAM_SCIM_MANAGE identity_providers.scim.manage 191",
  "1501 CAP_EVENTS_SUBSCRIPTION_CREATE subscriptions.create 36",
  "1502 CAP_EVENTS_SUBSCRIPTION_UPDATE subscriptions.update 37",
  "1503 CAP_EVENTS_SUBSCRIPTION_LIST subscriptions.list 38",
  "1504 CAP_EVENTS_SUBSCRIPTION_DELETE subscriptions.delete 39",
  "1600 CAP_REPO_BLOBS_GET repo.blobs.get 107",
  "1603 CAP_REPO_CREATE repo.create 56",
  "1604 CAP_REPO_UPDATE repo.update 57",
  "1605 CAP_REPO_LIST repo.list 58",
  "1606 CAP_REPO_DELETE repo.delete 59",
  "1607 CAP_MANIFEST_CREATE manifest.create 60",
  "1608 CAP_MANIFEST_UPDATE manifest.update 61",
  "1609 CAP_MANIFEST_LIST manifest.list 62",
  "1610 CAP_MANIFEST_DELETE manifest.delete 63",
  "1611 CAP_TAG_CREATE tag.create 64",
  "1612 CAP_TAG_UPDATE tag.update 65",
  "1613 CAP_TAG_LIST tag.list 66",
  "1614 CAP_TAG_DELETE tag.delete 67",
  "1615 CAP_MANIFEST_METADATA_LIST manifest.metadata.list 72",
  "1616 CAP_REFERRERS_LIST referrers.list 124",
  "1617 CAP_REPO_INTERNAL_ADMIN repo.internal.admin 168 internal_only",
  "1655 CAP_APK_BLOBS_GET apk.blobs.get 108",
  "1650 CAP_APK_CREATE apk.create 73",
  "1651 CAP_APK_UPDATE apk.update 74",
  "1652 CAP_APK_LIST apk.list 75",
  "1653 CAP_APK_DELETE apk.delete 76",
  "1654 CAP_VERSION_LIST version.list 77",
  "1660 CAP_VULN_REPORT_CREATE vuln_report.create 78",
  "1661 CAP_VULN_REPORT_LIST vuln_report.list 79",
  "1662 CAP_VULN_CREATE vuln.create 80",
  "1670 CAP_BUILD_REPORT_LIST build_report.list 81",
  "1800 CAP_LIBRARIES_ENTITLEMENTS_CREATE libraries.entitlements.create 82",
  "1801 CAP_LIBRARIES_ENTITLEMENTS_LIST libraries.entitlements.list 83",
  "1802 CAP_LIBRARIES_ENTITLEMENTS_DELETE libraries.entitlements.delete 84",
  "1803 CAP_LIBRARIES_ARTIFACTS_LIST libraries.artifacts.list 94",
  "1810 CAP_LIBRARIES_PYTHON_LIST libraries.python.list 85",
  "1811 CAP_LIBRARIES_PYTHON_CREATE libraries.python.create 111",
  "1820 CAP_LIBRARIES_JAVA_LIST libraries.java.list 86",
  "1821 CAP_LIBRARIES_JAVA_CREATE libraries.java.create 110",
  "1830 CAP_LIBRARIES_JAVASCRIPT_LIST libraries.javascript.list 88",
  "1831 CAP_LIBRARIES_JAVASCRIPT_CREATE libraries.javascript.create 109",
  "1832 CAP_LIBRARIES_DOTNET_LIST libraries.dotnet.list 196",
  "1833 CAP_LIBRARIES_DOTNET_CREATE libraries.dotnet.create 197",
  "1834 CAP_LIBRARIES_GO_LIST libraries.go.list 205",
  "1835 CAP_LIBRARIES_GO_CREATE libraries.go.create 206",
  "1860 CAP_LIBRARIES_CACHE_INVALIDATE libraries.cache.invalidate 129",
  "1862 CAP_LIBRARIES_CACHE_LIST libraries.cache.list 192",
  "1840 CAP_LIBRARIES_REBUILDER_REQUESTS_CREATE libraries.rebuilder.requests.create 103 internal_only",
  "1841 CAP_LIBRARIES_REBUILDER_REQUESTS_LIST libraries.rebuilder.requests.list 104 internal_only",
  "1842 CAP_LIBRARIES_REBUILDER_REQUESTS_CANCEL libraries.rebuilder.requests.cancel 105 internal_only",
  "1843 CAP_LIBRARIES_REBUILDER_REQUESTS_GROUP_UPDATE libraries.rebuilder.requests.group.update 121 internal_only",
  "1850 CAP_LIBRARIES_REBUILDER_ARTIFACTS_INVALIDATE libraries.rebuilder.artifacts.invalidate 106 internal_only",
  "1851 CAP_LIBRARIES_REBUILDER_EXCLUSIONS_MANAGE libraries.rebuilder.exclusions.manage 112 internal_only",
  "1852 CAP_LIBRARIES_REBUILDER_BUILDS_READ libraries.rebuilder.builds.read 122 internal_only",
  "1853 CAP_LIBRARIES_REBUILDER_BUILDS_TOKENS_FETCH libraries.rebuilder.builds.tokens.fetch 130 internal_only",
  "1854 CAP_LIBRARIES_REBUILDER_BUILDS_UNTRUSTED libraries.rebuilder.builds.untrusted 131 internal_only",
  "1855 CAP_LIBRARIES_REBUILDER_REMEDIATED_ARTIFACTS_READ libraries.rebuilder.remediated_artifacts.read 132 internal_only",
  "1856 CAP_LIBRARIES_REBUILDER_NEW_VERSIONS_READ libraries.rebuilder.new_versions.read 141 internal_only",
  "1857 CAP_LIBRARIES_REBUILDER_NEW_VERSIONS_REFRESH libraries.rebuilder.new_versions.refresh 142 internal_only",
  "1858 CAP_LIBRARIES_REBUILDER_MALWARE_STATUS_READ libraries.rebuilder.malware.status.read 157 internal_only",
  "1859 CAP_LIBRARIES_REBUILDER_CVE_REMEDIATIONS_LIST libraries.rebuilder.cve_remediations.list 177 internal_only",
  "1861 CAP_LIBRARIES_REBUILDER_CVE_REMEDIATIONS_UPDATE libraries.rebuilder.cve_remediations.update 178 internal_only",
  "1863 CAP_LIBRARIES_REBUILDER_SOURCE_COORDINATES_WRITE libraries.rebuilder.source_coordinates.write 200 internal_only",
  "1864 CAP_LIBRARIES_REBUILDER_SOURCE_COORDINATES_RESOLVE libraries.rebuilder.source_coordinates.resolve 201 internal_only",
  "1870 CAP_LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_CREATE libraries.aws_marketplace.subscriptions.create 165",
  "1871 CAP_LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_UPDATE libraries.aws_marketplace.subscriptions.update 166",
  "1872 CAP_LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_LIST libraries.aws_marketplace.subscriptions.list 167",
  "1874 CAP_LIBRARIES_REQUEST_GROUPS_CREATE libraries.request_groups.create 209",
  "1875 CAP_LIBRARIES_REQUEST_GROUPS_LIST libraries.request_groups.list 210",
  "1876 CAP_LIBRARIES_REQUEST_GROUPS_UPDATE libraries.request_groups.update 211",
  "1877 CAP_LIBRARIES_REQUEST_GROUPS_DELETE libraries.request_groups.delete 212",
  "1878 CAP_LIBRARIES_REQUEST_GROUPS_SUBMIT libraries.request_groups.submit 213",
  "1879 CAP_LIBRARIES_REQUEST_GROUPS_ITEMS_UPDATE libraries.request_groups.items.update 214",
  "1880 CAP_LIBRARIES_REQUEST_GROUPS_REFRESH_COVERAGE libraries.request_groups.refresh_coverage 215 internal_only",
  "1881 CAP_LIBRARIES_REQUEST_GROUPS_DELETE_SUBMITTED libraries.request_groups.delete_submitted 216 internal_only",
  "1882 CAP_LIBRARIES_REMOTE_REGISTRIES_CREATE libraries.remote_registries.create 219",
  "1883 CAP_LIBRARIES_REMOTE_REGISTRIES_LIST libraries.remote_registries.list 220",
  "1884 CAP_LIBRARIES_REMOTE_REGISTRIES_DELETE libraries.remote_registries.delete 221",
  "1680 CAP_REGISTRY_ENTITLEMENTS_LIST registry.entitlements.list 87",
  "1681 CAP_REGISTRY_ENTITLEMENTS_CREATE registry.entitlements.create 96",
  "1682 CAP_REGISTRY_ENTITLEMENTS_DELETE registry.entitlements.delete 97",
  "1685 CAP_REGISTRY_ENTITLEMENTS_IMAGES_ADD registry.entitlements.images.add 133",
  "1686 CAP_REGISTRY_ENTITLEMENTS_IMAGES_REMOVE registry.entitlements.images.remove 169",
  "1687 CAP_REGISTRY_ENTITLEMENTS_IMAGES_SWAP registry.entitlements.images.swap 202",
  "1683 CAP_REGISTRY_SETTINGS_LIST registry.settings.list 101",
  "1684 CAP_REGISTRY_SETTINGS_UPDATE registry.settings.update 102",
  "1688 CAP_REGISTRY_OVERLAYS_LIST registry.overlays.list 207",
  "1689 CAP_REGISTRY_OVERLAYS_EDIT registry.overlays.edit 208",
  "1701 CAP_SIGSTORE_CREATE sigstore.create 42 deprecated",
  "1702 CAP_SIGSTORE_UPDATE sigstore.update 43 deprecated",
  "1703 CAP_SIGSTORE_LIST sigstore.list 44 deprecated",
  "1704 CAP_SIGSTORE_DELETE sigstore.delete 45 deprecated",
  "1705 CAP_SIGSTORE_CERTIFICATE_CREATE sigstore.certificate.create 46 deprecated",
  "1900 CAP_ADVISORIES_CREATE advisories.create 89",
  "1901 CAP_ADVISORIES_UPDATE advisories.update 90",
  "1902 CAP_ADVISORIES_LIST advisories.list 91",
  "1903 CAP_ADVISORIES_DELETE advisories.delete 92",
  "1904 CAP_ADVISORIES_APPROVE advisories.approve 93",
  "1950 CAP_REGISTRY_DEPLOYMENTS_CREATE registry.deployments.create 98",
  "1951 CAP_REGISTRY_DEPLOYMENTS_UPDATE registry.deployments.update 99 internal_only",
  "1952 CAP_REGISTRY_DEPLOYMENTS_LIST registry.deployments.list 100",
  "2001 CAP_POLICIES_POLICY_CREATE policies.policy.create 113",
  "2002 CAP_POLICIES_POLICY_UPDATE policies.policy.update 114",
  "2003 CAP_POLICIES_POLICY_LIST policies.policy.list 115",
  "2004 CAP_POLICIES_POLICY_DELETE policies.policy.delete 116",
  "2011 CAP_POLICIES_BINDING_CREATE policies.binding.create 117",
  "2012 CAP_POLICIES_BINDING_UPDATE policies.binding.update 118",
  "2013 CAP_POLICIES_BINDING_LIST policies.binding.list 119",
  "2014 CAP_POLICIES_BINDING_DELETE policies.binding.delete 120",
  "2015 CAP_POLICIES_DECISION_LIST policies.decision.list 173",
  "2016 CAP_POLICIES_OVERRIDE_CREATE policies.override.create 174",
  "2017 CAP_POLICIES_OVERRIDE_LIST policies.override.list 175",
  "2018 CAP_POLICIES_OVERRIDE_DELETE policies.override.delete 176",
  "2020 CAP_REPO_CHECK_POLICIES repo.check_policies 134",
  "2100 CAP_PACKAGES_ENTITLEMENTS_LIST packages.entitlements.list 123",
  "2201 CAP_TERMS_ACCEPT terms.accept 125",
  "2202 CAP_TERMS_LIST terms.list 126",
  "10000 CAP_GULFSTREAM gulfstream 47",
  "2301 CAP_GUARDENER_DFC_CONVERT guardener.dfc.convert 127",
  "2302 CAP_GUARDENER_ASSOCIATION_MANAGE guardener.association.manage 170",
  "2303 CAP_GUARDENER_ASSOCIATION_LIST guardener.association.list 181",
  "2304 CAP_GUARDENER_ENTITLEMENT_MANAGE guardener.entitlement.manage 185 internal_only",
  "2305 CAP_GUARDENER_ENTITLEMENT_LIST guardener.entitlement.list 186",
  "2306 CAP_GUARDENER_ACTIONS_MIGRATE guardener.actions.migrate 188",
  "2307 CAP_GUARDENER_SCAN_LIST guardener.scan.list 217",
  "2308 CAP_GUARDENER_SCAN_GET guardener.scan.get 218",
  "2401 CAP_MCP_TOOL_CALL mcp.tool.call 128",
  "2501 CAP_SKILLS_PUBLISH skills.publish 137",
  "2502 CAP_SKILLS_ENTITLEMENTS_CREATE skills.entitlements.create 138",
  "2503 CAP_SKILLS_ENTITLEMENTS_LIST skills.entitlements.list 139",
  "2504 CAP_SKILLS_ENTITLEMENTS_DELETE skills.entitlements.delete 140",
  "2507 CAP_SKILLS_LIST skills.list 195",
  "2505 CAP_SKILLS_WRITE skills.write 193 internal_only",
  "2506 CAP_SKILLS_DELETE skills.delete 194 internal_only",
  "2508 CAP_SKILLS_HARDEN_READ skills.harden.read 199",
  "2509 CAP_SKILLS_HARDEN_WRITE skills.harden.write 203",
  "2510 CAP_SKILLS_HARDEN_CANCEL skills.harden.cancel 204",
  "2601 CAP_ARGOS_DOCUMENTS_CREATE argos.documents.create 144",
  "2602 CAP_ARGOS_DOCUMENTS_LIST argos.documents.list 145",
  "2603 CAP_ARGOS_DOCUMENTS_DELETE argos.documents.delete 146",
  "2604 CAP_ARGOS_OSV_READ argos.osv.read 147",
  "2614 CAP_ARGOS_OSV_DUMP argos.osv.dump 198",
  "2605 CAP_LIBRARIES_POLICY_CREATE libraries.policy.create 148",
  "2606 CAP_LIBRARIES_POLICY_UPDATE libraries.policy.update 149",
  "2607 CAP_LIBRARIES_POLICY_LIST libraries.policy.list 150",
  "2608 CAP_LIBRARIES_POLICY_DELETE libraries.policy.delete 151",
  "2609 CAP_LIBRARIES_POLICY_BINDING_CREATE libraries.policy.binding.create 152",
  "2610 CAP_LIBRARIES_POLICY_BINDING_UPDATE libraries.policy.binding.update 153",
  "2611 CAP_LIBRARIES_POLICY_BINDING_LIST libraries.policy.binding.list 154",
  "2612 CAP_LIBRARIES_POLICY_BINDING_DELETE libraries.policy.binding.delete 155",
  "2613 CAP_LIBRARIES_POLICY_BLOCK_EVENT_LIST libraries.policy.block_event.list 156",
  "2701 CAP_BUILDAPI_BUILD_CREATE buildapi.build.create 158 internal_only",
  "2702 CAP_BUILDAPI_BUILD_LIST buildapi.build.list 159 internal_only",
  "2703 CAP_BUILDAPI_WORKER_SYNC buildapi.worker.sync 162 internal_only",
  "2704 CAP_BUILDAPI_BUILD_CANCEL buildapi.build.cancel 163 internal_only",
  "2801 CAP_CASSIE_CAS_READ cassie.cas.read 160 internal_only",
  "2802 CAP_CASSIE_CAS_WRITE cassie.cas.write 161 internal_only",
  "2804 CAP_CASSIE_AC_READ cassie.ac.read 172 internal_only",
  "2803 CAP_CASSIE_AC_WRITE cassie.ac.write 171 internal_only",
  "2901 CAP_LOGGIE_LOGS_READ loggie.logs.read 179 internal_only",
  "2902 CAP_LOGGIE_LOGS_WRITE loggie.logs.write 180 internal_only",
  "2903 CAP_LOGGIE_LOGS_CREATE loggie.logs.create 187 internal_only",
  "2705 CAP_REX_EXECUTIONS_CREATE rex.executions.create 182 internal_only",
  "2706 CAP_REX_EXECUTIONS_LIST rex.executions.list 183 internal_only",
  "2707 CAP_REX_WORKERS_CONNECT rex.workers.connect 184 internal_only",
  "2708 CAP_REX_CLASS_USE rex.class.use 189 internal_only",
  "2709 CAP_REX_CLASS_SERVE rex.class.serve 190 internal_only",
  "2700 CAP_ACTIONS_LIST actions.list 164",
] as const;

export type Capability = (typeof ROWS)[number] extends `${string} ${infer E} ${string}` ? E : never;
type Row = { number: number; enum: string; name: string; bit: number; internalOnly: boolean; deprecated: boolean };

const rows: readonly Row[] = ROWS.map((row) => {
  const [number, enumName, name, bit, flag] = row.split(" ") as [string, string, string, string, string?];
  return {
    number: Number(number),
    enum: enumName,
    name,
    bit: Number(bit),
    internalOnly: flag === "internal_only",
    deprecated: flag === "deprecated",
  };
});

const byEnum = new Map(rows.map((row) => [row.enum, row]));
const byName = new Map(rows.map((row) => [row.name, row]));

/** Every capability: enum name, friendly name, bit. */
export const capabilities = rows;

export const Capability = enumeration("capabilities.Capability", {
  UNKNOWN: 0,
  ...Object.fromEntries(rows.map((row) => [row.enum, row.number])),
} as Record<"UNKNOWN" | Capability, number>);

/** `groups.list` or `CAP_IAM_GROUPS_LIST` to the enum name; undefined when there is no such capability. */
export const capabilityFrom = (text: string): string | undefined => (byName.get(text) ?? byEnum.get(text))?.enum;

/** The friendly name of an enum name. An unknown name is returned unchanged, because a newer server may have more. */
export const capabilityName = (enumName: string): string => byEnum.get(enumName)?.name ?? enumName;

export const isInternalOnly = (enumName: string): boolean => byEnum.get(enumName)?.internalOnly ?? false;

/**
 * The `cap` claim (docs/contract.md#api-tokens): base64url of a big-endian uint64 bit length and big-endian uint64 words,
 * bit i in word i/64, least significant first. Unknown names are skipped.
 */
export const capabilityBits = (enumNames: Iterable<string>): string => {
  const bits = [...enumNames].flatMap((name) => byEnum.get(name)?.bit ?? []);
  const length = bits.length === 0 ? 0 : Math.max(...bits) + 1;
  const words = new Array<bigint>(Math.ceil(length / 64)).fill(0n);
  for (const bit of bits) words[bit >> 6] = (words[bit >> 6] as bigint) | (1n << BigInt(bit & 63));
  const bytes = new DataView(new ArrayBuffer(8 + words.length * 8));
  bytes.setBigUint64(0, BigInt(length));
  words.forEach((word, i) => {
    bytes.setBigUint64(8 + i * 8, word);
  });
  return Buffer.from(bytes.buffer).toString("base64url");
};

/** Reads a `cap` bit set; unknown bits are skipped. */
export const capabilitiesFromBits = (text: string): string[] => {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length < 8 || bytes.length % 8 !== 0) throw new TypeError("a capability bit set is whole 64-bit words");
  const length = Number(bytes.readBigUInt64BE(0));
  return rows
    .filter(({ bit }) => bit < length && 8 + (bit >> 6) * 8 < bytes.length)
    .filter(({ bit }) => (bytes.readBigUInt64BE(8 + (bit >> 6) * 8) >> BigInt(bit & 63)) & 1n)
    .map((row) => row.enum);
};
