// Every published capability (docs/internals/contract.md#capabilities): roles grant them and methods require them. v2 JSON has the
// enum name (`CAP_IAM_GROUPS_LIST`). People, the STS and v1 use the friendly name (`groups.list`). The `cap` claim of a
// token uses the bit.
import { enumeration } from "./field.ts";
import { rowsOf } from "./once.ts";

// number, enum name, friendly name, bit in the token's bit set, class, flag
const ROWS = `
2 CAP_INTERNAL internal 95 write
101 CAP_IAM_GROUPS_CREATE groups.create 1 write
102 CAP_IAM_GROUPS_UPDATE groups.update 2 write
103 CAP_IAM_GROUPS_LIST groups.list 3 read
104 CAP_IAM_GROUPS_DELETE groups.delete 4 write
201 CAP_IAM_GROUP_INVITES_CREATE group_invites.create 5 grant
203 CAP_IAM_GROUP_INVITES_LIST group_invites.list 6 read
204 CAP_IAM_GROUP_INVITES_DELETE group_invites.delete 7 write
301 CAP_IAM_ROLES_CREATE roles.create 8 write
302 CAP_IAM_ROLES_UPDATE roles.update 9 grant
303 CAP_IAM_ROLES_LIST roles.list 10 read
304 CAP_IAM_ROLES_DELETE roles.delete 11 write
401 CAP_IAM_ROLE_BINDINGS_CREATE role_bindings.create 12 grant
402 CAP_IAM_ROLE_BINDINGS_UPDATE role_bindings.update 13 grant
403 CAP_IAM_ROLE_BINDINGS_LIST role_bindings.list 14 read
404 CAP_IAM_ROLE_BINDINGS_DELETE role_bindings.delete 15 write
501 CAP_TENANT_CLUSTERS_CREATE clusters.create 16 write deprecated
502 CAP_TENANT_CLUSTERS_UPDATE clusters.update 17 write deprecated
503 CAP_TENANT_CLUSTERS_LIST clusters.list 18 read deprecated
504 CAP_TENANT_CLUSTERS_DELETE clusters.delete 19 write deprecated
505 CAP_TENANT_CLUSTERS_DISCOVER clusters.discover 51 read deprecated
603 CAP_TENANT_RECORDS_LIST records.list 20 read deprecated
613 CAP_TENANT_RECORD_CONTEXTS_LIST record_contexts.list 48 read deprecated
623 CAP_TENANT_RECORD_SIGNATURES_LIST record_signatures.list 49 read
633 CAP_TENANT_RECORD_POLICY_RESULTS_LIST record_policy_results.list 50 read deprecated
640 CAP_TENANT_RISKS_LIST risks.list 68 read deprecated
650 CAP_TENANT_SBOMS_LIST sboms.list 69 read
660 CAP_TENANT_VULN_REPORTS_LIST vuln_reports.list 70 read
670 CAP_TENANT_ATTESTATIONS_LIST attestations.list 71 read
701 CAP_IAM_ACCOUNT_ASSOCIATIONS_CREATE account_associations.create 21 write
702 CAP_IAM_ACCOUNT_ASSOCIATIONS_UPDATE account_associations.update 22 write
703 CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST account_associations.list 23 read
704 CAP_IAM_ACCOUNT_ASSOCIATIONS_DELETE account_associations.delete 24 write
801 CAP_IAM_POLICY_CREATE policy.create 25 write deprecated
802 CAP_IAM_POLICY_UPDATE policy.update 26 write deprecated
803 CAP_IAM_POLICY_LIST policy.list 27 read deprecated
804 CAP_IAM_POLICY_DELETE policy.delete 28 write deprecated
901 CAP_IAM_IDENTITY_CREATE identity.create 29 write
902 CAP_IAM_IDENTITY_UPDATE identity.update 30 grant
903 CAP_IAM_IDENTITY_LIST identity.list 31 read
904 CAP_IAM_IDENTITY_DELETE identity.delete 32 write
1003 CAP_TENANT_NODES_LIST nodes.list 33 read deprecated
1103 CAP_TENANT_NAMESPACES_LIST namespaces.list 34 read deprecated
1203 CAP_TENANT_WORKLOADS_LIST workloads.list 35 read deprecated
1301 CAP_IAM_IDENTITY_PROVIDERS_CREATE identity_providers.create 52 grant
1302 CAP_IAM_IDENTITY_PROVIDERS_UPDATE identity_providers.update 53 grant
1303 CAP_IAM_IDENTITY_PROVIDERS_LIST identity_providers.list 54 read
1304 CAP_IAM_IDENTITY_PROVIDERS_DELETE identity_providers.delete 55 write
1305 CAP_IAM_SCIM_MANAGE identity_providers.scim.manage 191 grant
1501 CAP_EVENTS_SUBSCRIPTION_CREATE subscriptions.create 36 write
1502 CAP_EVENTS_SUBSCRIPTION_UPDATE subscriptions.update 37 write
1503 CAP_EVENTS_SUBSCRIPTION_LIST subscriptions.list 38 read
1504 CAP_EVENTS_SUBSCRIPTION_DELETE subscriptions.delete 39 write
1600 CAP_REPO_BLOBS_GET repo.blobs.get 107 read
1603 CAP_REPO_CREATE repo.create 56 write
1604 CAP_REPO_UPDATE repo.update 57 write
1605 CAP_REPO_LIST repo.list 58 read
1606 CAP_REPO_DELETE repo.delete 59 write
1607 CAP_MANIFEST_CREATE manifest.create 60 write
1608 CAP_MANIFEST_UPDATE manifest.update 61 write
1609 CAP_MANIFEST_LIST manifest.list 62 read
1610 CAP_MANIFEST_DELETE manifest.delete 63 write
1611 CAP_TAG_CREATE tag.create 64 write
1612 CAP_TAG_UPDATE tag.update 65 write
1613 CAP_TAG_LIST tag.list 66 read
1614 CAP_TAG_DELETE tag.delete 67 write
1615 CAP_MANIFEST_METADATA_LIST manifest.metadata.list 72 read
1616 CAP_REFERRERS_LIST referrers.list 124 read
1617 CAP_REPO_INTERNAL_ADMIN repo.internal.admin 168 write internal_only
1655 CAP_APK_BLOBS_GET apk.blobs.get 108 read
1650 CAP_APK_CREATE apk.create 73 write
1651 CAP_APK_UPDATE apk.update 74 write
1652 CAP_APK_LIST apk.list 75 read
1653 CAP_APK_DELETE apk.delete 76 write
1654 CAP_VERSION_LIST version.list 77 read
1660 CAP_VULN_REPORT_CREATE vuln_report.create 78 write
1661 CAP_VULN_REPORT_LIST vuln_report.list 79 read
1662 CAP_VULN_CREATE vuln.create 80 write
1670 CAP_BUILD_REPORT_LIST build_report.list 81 read
1800 CAP_LIBRARIES_ENTITLEMENTS_CREATE libraries.entitlements.create 82 write
1801 CAP_LIBRARIES_ENTITLEMENTS_LIST libraries.entitlements.list 83 read
1802 CAP_LIBRARIES_ENTITLEMENTS_DELETE libraries.entitlements.delete 84 write
1803 CAP_LIBRARIES_ARTIFACTS_LIST libraries.artifacts.list 94 read
1810 CAP_LIBRARIES_PYTHON_LIST libraries.python.list 85 read
1811 CAP_LIBRARIES_PYTHON_CREATE libraries.python.create 111 write
1820 CAP_LIBRARIES_JAVA_LIST libraries.java.list 86 read
1821 CAP_LIBRARIES_JAVA_CREATE libraries.java.create 110 write
1830 CAP_LIBRARIES_JAVASCRIPT_LIST libraries.javascript.list 88 read
1831 CAP_LIBRARIES_JAVASCRIPT_CREATE libraries.javascript.create 109 write
1832 CAP_LIBRARIES_DOTNET_LIST libraries.dotnet.list 196 read
1833 CAP_LIBRARIES_DOTNET_CREATE libraries.dotnet.create 197 write
1834 CAP_LIBRARIES_GO_LIST libraries.go.list 205 read
1835 CAP_LIBRARIES_GO_CREATE libraries.go.create 206 write
1860 CAP_LIBRARIES_CACHE_INVALIDATE libraries.cache.invalidate 129 write
1862 CAP_LIBRARIES_CACHE_LIST libraries.cache.list 192 read
1840 CAP_LIBRARIES_REBUILDER_REQUESTS_CREATE libraries.rebuilder.requests.create 103 write internal_only
1841 CAP_LIBRARIES_REBUILDER_REQUESTS_LIST libraries.rebuilder.requests.list 104 read internal_only
1842 CAP_LIBRARIES_REBUILDER_REQUESTS_CANCEL libraries.rebuilder.requests.cancel 105 write internal_only
1843 CAP_LIBRARIES_REBUILDER_REQUESTS_GROUP_UPDATE libraries.rebuilder.requests.group.update 121 write internal_only
1850 CAP_LIBRARIES_REBUILDER_ARTIFACTS_INVALIDATE libraries.rebuilder.artifacts.invalidate 106 write internal_only
1851 CAP_LIBRARIES_REBUILDER_EXCLUSIONS_MANAGE libraries.rebuilder.exclusions.manage 112 write internal_only
1852 CAP_LIBRARIES_REBUILDER_BUILDS_READ libraries.rebuilder.builds.read 122 read internal_only
1853 CAP_LIBRARIES_REBUILDER_BUILDS_TOKENS_FETCH libraries.rebuilder.builds.tokens.fetch 130 write internal_only
1854 CAP_LIBRARIES_REBUILDER_BUILDS_UNTRUSTED libraries.rebuilder.builds.untrusted 131 write internal_only
1855 CAP_LIBRARIES_REBUILDER_REMEDIATED_ARTIFACTS_READ libraries.rebuilder.remediated_artifacts.read 132 read internal_only
1856 CAP_LIBRARIES_REBUILDER_NEW_VERSIONS_READ libraries.rebuilder.new_versions.read 141 read internal_only
1857 CAP_LIBRARIES_REBUILDER_NEW_VERSIONS_REFRESH libraries.rebuilder.new_versions.refresh 142 write internal_only
1858 CAP_LIBRARIES_REBUILDER_MALWARE_STATUS_READ libraries.rebuilder.malware.status.read 157 read internal_only
1859 CAP_LIBRARIES_REBUILDER_CVE_REMEDIATIONS_LIST libraries.rebuilder.cve_remediations.list 177 read internal_only
1861 CAP_LIBRARIES_REBUILDER_CVE_REMEDIATIONS_UPDATE libraries.rebuilder.cve_remediations.update 178 write internal_only
1863 CAP_LIBRARIES_REBUILDER_SOURCE_COORDINATES_WRITE libraries.rebuilder.source_coordinates.write 200 write internal_only
1864 CAP_LIBRARIES_REBUILDER_SOURCE_COORDINATES_RESOLVE libraries.rebuilder.source_coordinates.resolve 201 use internal_only
1870 CAP_LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_CREATE libraries.aws_marketplace.subscriptions.create 165 write
1871 CAP_LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_UPDATE libraries.aws_marketplace.subscriptions.update 166 write
1872 CAP_LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_LIST libraries.aws_marketplace.subscriptions.list 167 read
1874 CAP_LIBRARIES_REQUEST_GROUPS_CREATE libraries.request_groups.create 209 write
1875 CAP_LIBRARIES_REQUEST_GROUPS_LIST libraries.request_groups.list 210 read
1876 CAP_LIBRARIES_REQUEST_GROUPS_UPDATE libraries.request_groups.update 211 write
1877 CAP_LIBRARIES_REQUEST_GROUPS_DELETE libraries.request_groups.delete 212 write
1878 CAP_LIBRARIES_REQUEST_GROUPS_SUBMIT libraries.request_groups.submit 213 write
1879 CAP_LIBRARIES_REQUEST_GROUPS_ITEMS_UPDATE libraries.request_groups.items.update 214 write
1880 CAP_LIBRARIES_REQUEST_GROUPS_REFRESH_COVERAGE libraries.request_groups.refresh_coverage 215 write internal_only
1881 CAP_LIBRARIES_REQUEST_GROUPS_DELETE_SUBMITTED libraries.request_groups.delete_submitted 216 write internal_only
1882 CAP_LIBRARIES_REMOTE_REGISTRIES_CREATE libraries.remote_registries.create 219 write
1883 CAP_LIBRARIES_REMOTE_REGISTRIES_LIST libraries.remote_registries.list 220 read
1884 CAP_LIBRARIES_REMOTE_REGISTRIES_DELETE libraries.remote_registries.delete 221 write
1680 CAP_REGISTRY_ENTITLEMENTS_LIST registry.entitlements.list 87 read
1681 CAP_REGISTRY_ENTITLEMENTS_CREATE registry.entitlements.create 96 write
1682 CAP_REGISTRY_ENTITLEMENTS_DELETE registry.entitlements.delete 97 write
1685 CAP_REGISTRY_ENTITLEMENTS_IMAGES_ADD registry.entitlements.images.add 133 write
1686 CAP_REGISTRY_ENTITLEMENTS_IMAGES_REMOVE registry.entitlements.images.remove 169 write
1687 CAP_REGISTRY_ENTITLEMENTS_IMAGES_SWAP registry.entitlements.images.swap 202 write
1683 CAP_REGISTRY_SETTINGS_LIST registry.settings.list 101 read
1684 CAP_REGISTRY_SETTINGS_UPDATE registry.settings.update 102 write
1688 CAP_REGISTRY_OVERLAYS_LIST registry.overlays.list 207 read
1689 CAP_REGISTRY_OVERLAYS_EDIT registry.overlays.edit 208 write
1701 CAP_SIGSTORE_CREATE sigstore.create 42 write deprecated
1702 CAP_SIGSTORE_UPDATE sigstore.update 43 write deprecated
1703 CAP_SIGSTORE_LIST sigstore.list 44 read deprecated
1704 CAP_SIGSTORE_DELETE sigstore.delete 45 write deprecated
1705 CAP_SIGSTORE_CERTIFICATE_CREATE sigstore.certificate.create 46 write deprecated
1900 CAP_ADVISORIES_CREATE advisories.create 89 write
1901 CAP_ADVISORIES_UPDATE advisories.update 90 write
1902 CAP_ADVISORIES_LIST advisories.list 91 read
1903 CAP_ADVISORIES_DELETE advisories.delete 92 write
1904 CAP_ADVISORIES_APPROVE advisories.approve 93 write
1950 CAP_REGISTRY_DEPLOYMENTS_CREATE registry.deployments.create 98 write
1951 CAP_REGISTRY_DEPLOYMENTS_UPDATE registry.deployments.update 99 write internal_only
1952 CAP_REGISTRY_DEPLOYMENTS_LIST registry.deployments.list 100 read
2001 CAP_POLICIES_POLICY_CREATE policies.policy.create 113 write
2002 CAP_POLICIES_POLICY_UPDATE policies.policy.update 114 write
2003 CAP_POLICIES_POLICY_LIST policies.policy.list 115 read
2004 CAP_POLICIES_POLICY_DELETE policies.policy.delete 116 write
2011 CAP_POLICIES_BINDING_CREATE policies.binding.create 117 write
2012 CAP_POLICIES_BINDING_UPDATE policies.binding.update 118 write
2013 CAP_POLICIES_BINDING_LIST policies.binding.list 119 read
2014 CAP_POLICIES_BINDING_DELETE policies.binding.delete 120 write
2015 CAP_POLICIES_DECISION_LIST policies.decision.list 173 read
2016 CAP_POLICIES_OVERRIDE_CREATE policies.override.create 174 write
2017 CAP_POLICIES_OVERRIDE_LIST policies.override.list 175 read
2018 CAP_POLICIES_OVERRIDE_DELETE policies.override.delete 176 write
2020 CAP_REPO_CHECK_POLICIES repo.check_policies 134 use
2100 CAP_PACKAGES_ENTITLEMENTS_LIST packages.entitlements.list 123 read
2201 CAP_TERMS_ACCEPT terms.accept 125 write
2202 CAP_TERMS_LIST terms.list 126 read
10000 CAP_GULFSTREAM gulfstream 47 write
2301 CAP_GUARDENER_DFC_CONVERT guardener.dfc.convert 127 use
2302 CAP_GUARDENER_ASSOCIATION_MANAGE guardener.association.manage 170 write
2303 CAP_GUARDENER_ASSOCIATION_LIST guardener.association.list 181 read
2304 CAP_GUARDENER_ENTITLEMENT_MANAGE guardener.entitlement.manage 185 write internal_only
2305 CAP_GUARDENER_ENTITLEMENT_LIST guardener.entitlement.list 186 read
2306 CAP_GUARDENER_ACTIONS_MIGRATE guardener.actions.migrate 188 use
2307 CAP_GUARDENER_SCAN_LIST guardener.scan.list 217 read
2308 CAP_GUARDENER_SCAN_GET guardener.scan.get 218 read
2401 CAP_MCP_TOOL_CALL mcp.tool.call 128 use
2501 CAP_SKILLS_PUBLISH skills.publish 137 write
2502 CAP_SKILLS_ENTITLEMENTS_CREATE skills.entitlements.create 138 write
2503 CAP_SKILLS_ENTITLEMENTS_LIST skills.entitlements.list 139 read
2504 CAP_SKILLS_ENTITLEMENTS_DELETE skills.entitlements.delete 140 write
2507 CAP_SKILLS_LIST skills.list 195 read
2505 CAP_SKILLS_WRITE skills.write 193 write internal_only
2506 CAP_SKILLS_DELETE skills.delete 194 write internal_only
2508 CAP_SKILLS_HARDEN_READ skills.harden.read 199 read
2509 CAP_SKILLS_HARDEN_WRITE skills.harden.write 203 write
2510 CAP_SKILLS_HARDEN_CANCEL skills.harden.cancel 204 write
2601 CAP_ARGOS_DOCUMENTS_CREATE argos.documents.create 144 write
2602 CAP_ARGOS_DOCUMENTS_LIST argos.documents.list 145 read
2603 CAP_ARGOS_DOCUMENTS_DELETE argos.documents.delete 146 write
2604 CAP_ARGOS_OSV_READ argos.osv.read 147 read
2614 CAP_ARGOS_OSV_DUMP argos.osv.dump 198 read
2605 CAP_LIBRARIES_POLICY_CREATE libraries.policy.create 148 write
2606 CAP_LIBRARIES_POLICY_UPDATE libraries.policy.update 149 write
2607 CAP_LIBRARIES_POLICY_LIST libraries.policy.list 150 read
2608 CAP_LIBRARIES_POLICY_DELETE libraries.policy.delete 151 write
2609 CAP_LIBRARIES_POLICY_BINDING_CREATE libraries.policy.binding.create 152 write
2610 CAP_LIBRARIES_POLICY_BINDING_UPDATE libraries.policy.binding.update 153 write
2611 CAP_LIBRARIES_POLICY_BINDING_LIST libraries.policy.binding.list 154 read
2612 CAP_LIBRARIES_POLICY_BINDING_DELETE libraries.policy.binding.delete 155 write
2613 CAP_LIBRARIES_POLICY_BLOCK_EVENT_LIST libraries.policy.block_event.list 156 read
2701 CAP_BUILDAPI_BUILD_CREATE buildapi.build.create 158 write internal_only
2702 CAP_BUILDAPI_BUILD_LIST buildapi.build.list 159 read internal_only
2703 CAP_BUILDAPI_WORKER_SYNC buildapi.worker.sync 162 write internal_only
2704 CAP_BUILDAPI_BUILD_CANCEL buildapi.build.cancel 163 write internal_only
2801 CAP_CASSIE_CAS_READ cassie.cas.read 160 read internal_only
2802 CAP_CASSIE_CAS_WRITE cassie.cas.write 161 write internal_only
2804 CAP_CASSIE_AC_READ cassie.ac.read 172 read internal_only
2803 CAP_CASSIE_AC_WRITE cassie.ac.write 171 write internal_only
2901 CAP_LOGGIE_LOGS_READ loggie.logs.read 179 read internal_only
2902 CAP_LOGGIE_LOGS_WRITE loggie.logs.write 180 write internal_only
2903 CAP_LOGGIE_LOGS_CREATE loggie.logs.create 187 write internal_only
2705 CAP_REX_EXECUTIONS_CREATE rex.executions.create 182 write internal_only
2706 CAP_REX_EXECUTIONS_LIST rex.executions.list 183 read internal_only
2707 CAP_REX_WORKERS_CONNECT rex.workers.connect 184 write internal_only
2708 CAP_REX_CLASS_USE rex.class.use 189 use internal_only
2709 CAP_REX_CLASS_SERVE rex.class.serve 190 write internal_only
2700 CAP_ACTIONS_LIST actions.list 164 read
`;

type EnumNames<Text extends string, Found = never> = Text extends `\n${string} ${infer Name} ${string}\n${infer Rest}`
  ? EnumNames<`\n${Rest}`, Found | Name>
  : Found;

export type Capability = EnumNames<typeof ROWS>;

/**
 * The effect of a capability, the worst first. `grant`: give access to itself or to others. `write`: change records, or act
 * in a way that this table does not know. `use`: run a function of the service that changes no record. `read`: list and get.
 */
export const CAPABILITY_CLASSES = ["grant", "write", "use", "read"] as const;
export type CapabilityClass = (typeof CAPABILITY_CLASSES)[number];

type Row = {
  number: number;
  enum: string;
  name: string;
  bit: number;
  class: CapabilityClass;
  internalOnly: boolean;
  deprecated: boolean;
};

/** Every capability: enum name, friendly name, bit. */
export const capabilities: readonly Row[] = rowsOf(ROWS).map((row) => {
  const [number, enumName, name, bit, one, flag] = row.split(" ") as [string, string, string, string, string, string?];
  return {
    number: Number(number),
    enum: enumName,
    name,
    bit: Number(bit),
    class: one as CapabilityClass,
    internalOnly: flag === "internal_only",
    deprecated: flag === "deprecated",
  };
});

const byEnum = new Map(capabilities.map((row) => [row.enum, row]));
const byName = new Map(capabilities.map((row) => [row.name, row]));

export const Capability = enumeration("capabilities.Capability", {
  UNKNOWN: 0,
  ...Object.fromEntries(capabilities.map((row) => [row.enum, row.number])),
} as Record<"UNKNOWN" | Capability, number>);

/** `groups.list` or `CAP_IAM_GROUPS_LIST` to the enum name; undefined for any other text. */
export const capabilityFrom = (text: string): string | undefined => (byName.get(text) ?? byEnum.get(text))?.enum;

/** The friendly name of an enum name. An unknown name is returned unchanged, because a newer server may have more. */
export const capabilityName = (enumName: string): string => byEnum.get(enumName)?.name ?? enumName;

/** The class of a friendly name. A name that is not in the table counts as `write`, unless it lists or gets. */
export const classOf = (name: string): CapabilityClass =>
  byName.get(name)?.class ?? (/\.(?:list|get)$/.test(name) ? "read" : "write");

export const isInternalOnly = (enumName: string): boolean => byEnum.get(enumName)?.internalOnly ?? false;

/**
 * The `cap` claim (docs/internals/contract.md#api-tokens): base64url of a big-endian uint64 bit length and big-endian uint64 words,
 * bit i in word i/64, least significant first. Unknown names are skipped.
 */
export const capabilityBits = (enumNames: Iterable<string>): string => {
  const bits = [...enumNames].flatMap((name) => byEnum.get(name)?.bit ?? []);
  const length = bits.length === 0 ? 0 : Math.max(...bits) + 1;
  const words = Math.ceil(length / 64);
  const bytes = new DataView(new ArrayBuffer(8 + words * 8));
  bytes.setBigUint64(0, BigInt(length));
  for (const bit of bits) {
    const at = 8 + (bit >> 6) * 8;
    bytes.setBigUint64(at, bytes.getBigUint64(at) | (1n << BigInt(bit & 63)));
  }
  return Buffer.from(bytes.buffer).toString("base64url");
};

/** Reads a `cap` bit set; unknown bits are skipped. */
export const capabilitiesFromBits = (text: string): string[] => {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length < 8 || bytes.length % 8 !== 0) throw new TypeError("a capability bit set is whole 64-bit words");
  const length = Number(bytes.readBigUInt64BE(0));
  return capabilities
    .filter(({ bit }) => bit < length && 8 + (bit >> 6) * 8 < bytes.length)
    .filter(({ bit }) => (bytes.readBigUInt64BE(8 + (bit >> 6) * 8) >> BigInt(bit & 63)) & 1n)
    .map((row) => row.enum);
};
