// The generated texts in docs/: the page of all capabilities, and the table of resources.
import {
  BUILT_IN_ROLE_CAPABILITIES,
  BUILT_IN_ROLES_SOURCE,
  capabilities,
  isManaged,
  operations,
  type Resource,
  resources,
  roleBindingSet,
} from "../../schema/index.ts";
import type { Operation } from "../../schema/operation.ts";
import { fileOfType } from "./program-type.ts";

/** The services, and the first words in the enum names of their capabilities. */
const SERVICES: readonly (readonly [string, RegExp])[] = [
  ["Identity and access", /^CAP_(IAM|TERMS)_/],
  ["Events", /^CAP_EVENTS_/],
  ["Registry", /^CAP_(REPO|MANIFEST|TAG|REFERRERS|REGISTRY)_/],
  ["Packages", /^CAP_(APK|VERSION|PACKAGES)_/],
  ["Advisories and vulnerabilities", /^CAP_(ADVISORIES|VULN|VULN_REPORT|BUILD_REPORT|ARGOS)_/],
  ["Libraries", /^CAP_LIBRARIES_/],
  ["Policies", /^CAP_POLICIES_/],
  ["Skills", /^CAP_SKILLS_/],
  ["Guardener", /^CAP_GUARDENER_/],
  ["Clusters and records", /^CAP_TENANT_/],
  ["Sigstore", /^CAP_SIGSTORE_/],
];
const OTHER = "Other services";

const HEAD = `# Capabilities

Find the name of a capability for \`can: [repo.list]\` in a policy, \`capabilities\` of a \`Role\`, or
\`npx pulumi-irm access --capability tag.create\`. Each entry shows a class, the methods that require the capability, and the built-in roles
that contain it. Without methods, it belongs to a part of the API that this project doesn't serve.

*grant* gives access to its holder or to others. *write* changes records. *use* runs a function that changes no record. *read* gets or lists records.
An unlisted capability counts as *write*, unless its name ends with \`.list\` or \`.get\`. Only the service's own roles can contain *internal*
capabilities. *Deprecated* ones remain for old roles. See the [rules](../internals/contract.md#capabilities).

The built-in roles are as of ${BUILT_IN_ROLES_SOURCE.date}, from ${BUILT_IN_ROLES_SOURCE.text}.
[\`irm roles\`](roles.md) shows those of your service.
`;

/** The lines of a text in which only spaces separate words. */
const LINES = /\S.{0,79}(?= |$)/g;

/** docs/reference/capabilities.md: every published capability, by service, with the methods that require it and the built-in roles that have it. */
export const capabilitiesPage = (): string => {
  const methods = Object.entries(operations as Readonly<Record<string, Operation>>);
  const rows = capabilities.map((one) => ({
    service: SERVICES.find(([, begin]) => begin.test(one.enum))?.[0] ?? OTHER,
    name: one.name + (one.internalOnly ? " (internal)" : one.deprecated ? " (deprecated)" : ""),
    effect: one.class,
    methods: methods.filter(([, row]) => row.capabilities.includes(one.name)).map(([name]) => name),
    roles: Object.entries(BUILT_IN_ROLE_CAPABILITIES)
      .filter(([, names]) => names.includes(one.name))
      .map(([role]) => role),
  }));
  const services = Map.groupBy(rows, ({ service }) => service);
  const sections = [...SERVICES.map(([service]) => service), OTHER].map((service) => {
    const sorted = (services.get(service) ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const lines = sorted.map(({ name, effect, methods, roles }) => {
      const begin = `${name.padEnd(44)}  ${effect.padEnd(5)}  `;
      const texts = [methods.join(", "), roles.length > 0 ? `roles: ${roles.join(", ")}` : ""];
      const further = `\n${" ".repeat(begin.length)}`;
      return (begin + texts.flatMap((text) => text.match(LINES) ?? []).join(further)).trimEnd();
    });
    return [`## ${service}`, "", "```text", ...lines, "```", ""].join("\n");
  });
  return [HEAD, ...sections].join("\n");
};

const TABLE_HEAD = "| resource | what it is |\n| --- | --- |\n";

/** docs/resources.md with its table as it has to be: each resource with its page. The rest of that page is written by hand. */
export const withResourceTable = (page: string): string => {
  const start = page.indexOf(TABLE_HEAD) + TABLE_HEAD.length;
  const end = page.indexOf("\n\n", start) + 1;
  if (start < TABLE_HEAD.length || end === 0) throw new Error("docs/resources.md has no table of resources");
  const rows = Object.values<Resource>(resources)
    .filter(isManaged)
    .flatMap(({ type, texts }) => [
      rowOf(type, texts.about),
      // The set of a kind comes after it.
      ...(roleBindingSet.type === `${type}Set` ? [rowOf(roleBindingSet.type, roleBindingSet.about)] : []),
    ]);
  return page.slice(0, start) + rows.join("") + page.slice(end);
};

const rowOf = (type: string, about: string) =>
  `| [${type}](resources/${fileOfType(type)}.md) | ${about.replace(/\.$/, "")} |\n`;
