// The programs that are measured: the same access as single role bindings or as sets, in TypeScript and in YAML.

/** The stack that is measured: in each group three identities, and six role bindings or one set of them. */
export interface Size {
  groups: number;
}

const IDENTITIES = 3;
const ROLES = ["viewer", "editor"] as const;

/** A group with what is in it. */
const IN_GROUP = 1 + IDENTITIES + IDENTITIES * ROLES.length;
const IN_GROUP_WITH_SET = 1 + IDENTITIES + 1;

/** The size with about as many resources, role bindings counted singly. */
export const sizeOf = (resources: number): Size => ({ groups: Math.max(1, Math.round(resources / IN_GROUP)) });

export const resourcesOf = ({ groups }: Size, withSets: boolean): number =>
  groups * (withSets ? IN_GROUP_WITH_SET : IN_GROUP);

export const MODULES = { dynamic: "pulumi-irm", native: "pulumi-irm/plugin" } as const;

/** `ORG` is the organization, `EDITION` a text in ten of the identities, and `ROLE` the role of ten bindings. */
export const typescriptProgram = (module: string, { groups }: Size, withSets: boolean): string => `
import { Group, Identity, ${withSets ? "RoleBindingSet" : "RoleBinding"} } from "${module}";
const { ORG: parent = "", EDITION = "first", ROLE } = process.env;
for (let g = 0; g < ${groups}; g += 1) {
  const group = new Group(\`g\${g}\`, { parent, name: \`g\${g}\`, description: "a team" });
  const bindings = [];
  for (let i = 0; i < ${IDENTITIES}; i += 1) {
    const name = \`g\${g}-i\${i}\`;
    const identity = new Identity(name, {
      parent: group,
      name,
      description: g < 10 && i === 0 ? EDITION : "a workflow",
      claimMatch: { issuer: "https://ci.example.com", subject: \`repo:acme/\${name}\` },
    });
    for (const usual of ${JSON.stringify(ROLES)}) {
      const role = (g < 10 && i === 0 && usual === "viewer" && ROLE) || usual;
      bindings.push({ name: \`\${name}-\${usual}\`, identity, role });
    }
  }
  ${withSets ? SET : SINGLY}
}
`;

const SINGLY = `for (const { name, ...binding } of bindings) new RoleBinding(name, { parent: group, ...binding });`;
const SET = `new RoleBindingSet(\`g\${g}\`, { parent: group, bindings: bindings.map(({ name, ...binding }) => binding) });`;

/** What follows the name and the plugins in Pulumi.yaml. */
export const yamlProgram = (organization: string, { groups }: Size): string => {
  const lines = ["resources:"];
  const add = (name: string, type: string, properties: object) =>
    lines.push(`  ${name}: { type: "irm:${type}", properties: ${JSON.stringify(properties)} }`);
  for (let g = 0; g < groups; g += 1) {
    const parent = `\${g${g}.uid}`;
    add(`g${g}`, "Group", { parent: organization, name: `g${g}`, description: "a team" });
    for (let i = 0; i < IDENTITIES; i += 1) {
      const name = `g${g}-i${i}`;
      const claimMatch = { issuer: "https://ci.example.com", subject: `repo:acme/${name}` };
      add(name, "Identity", { parent, name, description: "a workflow", claimMatch });
      for (const role of ROLES) add(`${name}-${role}`, "RoleBinding", { parent, identity: `\${${name}.uid}`, role });
    }
  }
  return `${lines.join("\n")}\n`;
};
