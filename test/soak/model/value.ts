// What commands are made of: texts, references and queries, good ones mostly, so that an oracle fills up.
import * as fc from "fast-check";
import { type Json, KINDS } from "./oracle.ts";

export interface Common {
  /** index of the caller: the owner, or the reader */
  caller: number;
  snake: boolean;
  version: string;
}

/** A record of a kind: one that is there, one that was, or one that never was. */
export interface Ref {
  n: number;
  which: "live" | "gone" | "never";
}

/** Identity and role of a binding. */
export interface LinkRef {
  identity: Ref;
  role: Ref;
  /** the reader's identity, so that it is granted something */
  toReader: boolean;
}

export const rarely = <T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });

export const common: fc.Arbitrary<Common> = fc.record({
  caller: rarely(5, fc.constant(0), fc.constant(1)),
  snake: fc.boolean(),
  version: fc.constantFrom("v2beta1", "v2"),
});

export const ref: fc.Arbitrary<Ref> = fc.record({
  n: fc.nat(1000),
  which: rarely<Ref["which"]>(20, fc.constant("live"), fc.constantFrom("gone", "never")),
});

const NAMES = ["a", "b", "web 1", "x_y.z-9", "b", "a", "0"];
const BAD_NAMES = ["", "Upper", "ü", "a\n", "a/b", "x".repeat(256), undefined];
export const name = rarely<string | undefined>(
  15,
  fc.constantFrom(...NAMES, "x".repeat(255)),
  fc.constantFrom(...BAD_NAMES),
);
const DESCRIPTIONS = [undefined, "", "one", "two ünïcode ✓", "😀".repeat(512)];
export const description = rarely<string | undefined>(
  15,
  fc.constantFrom(...DESCRIPTIONS),
  fc.constantFrom("tab\there", "line\nbreak", "x".repeat(513)),
);

const ISSUERS = ["https://one.example", "https://two.example"];
const SUBJECTS = ["s1", "s2", "repo:a/b:ref:refs/heads/main"];
const exact = fc.record({ issuer: fc.constantFrom(...ISSUERS), subject: fc.constantFrom(...SUBJECTS) });
export const goodRelationship: fc.Arbitrary<Json> = fc.oneof(
  exact.map((claimMatch) => ({ claimMatch })),
  fc.constantFrom<Json>(
    { claimMatch: { issuer: "https://one.example", subjectPattern: "s.*" } },
    { claimMatch: { issuerPattern: "https://.*", subject: "s1" } },
    { servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
    { servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
  ),
);
export const relationship = rarely<Json>(
  12,
  goodRelationship,
  fc.constantFrom<Json>(
    {},
    { claimMatch: { issuer: "ftp://one.example", subject: "s" } },
    { claimMatch: { issuer: "https://one.example" } },
  ),
);

const HELD = ["GROUPS_LIST", "IDENTITY_LIST", "ROLES_LIST", "ROLE_BINDINGS_LIST", "GROUPS_UPDATE", "ROLES_UPDATE"];
// No caller here holds the last one.
const CAPABILITIES = [...HELD.map((word) => `CAP_IAM_${word}`), "CAP_REPO_LIST"];
export const capabilities = rarely<string[]>(
  12,
  fc.uniqueArray(fc.constantFrom(...CAPABILITIES), { minLength: 1 }),
  fc.constantFrom([], ["CAP_IAM_GROUPS_LIST", "CAP_TENANT_RECORDS_LIST"]),
);

export const kind = fc.constantFrom(...KINDS);
export const link: fc.Arbitrary<LinkRef> = fc.record({ identity: ref, role: ref, toReader: fc.boolean() });
export const seldom = rarely(5, fc.constant(false), fc.constant(true));

const ORDERS = [undefined, "uid", "uid desc", "name", "name desc", "create_time", "createTime desc", "updated_at desc"];
const MORE_ORDERS = ["created_at", "update_time asc", "id desc", "updateTime", "", "  name   desc "];
const BAD_ORDERS = ["colour", "name down", "name,uid", "constructor"];
export const orderBy = rarely<string | undefined>(
  12,
  fc.constantFrom(...ORDERS, ...MORE_ORDERS),
  fc.constantFrom(...BAD_ORDERS),
);
export const pageSize = rarely(
  15,
  fc.constantFrom<(number | undefined)[]>(1, 1, 2, 3, 3, 5, 7, undefined, 0, 200, 201),
  fc.constant(-1),
);
export const skip = rarely(15, fc.constantFrom<(number | undefined)[]>(undefined, undefined, 0, 1, 4), fc.constant(-1));
