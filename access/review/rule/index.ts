// All rules, and the findings of a change.
import { assumedByOthers } from "./assumed-by-others.ts";
import { gainsOwner } from "./gains-owner.ts";
import { identityReplaced } from "./identity-replaced.ts";
import { lastOwnerGoes } from "./last-owner-goes.ts";
import { matchesEveryone } from "./matches-everyone.ts";
import { matchesMany } from "./matches-many.ts";
import { newIssuer } from "./new-issuer.ts";
import { opensPath } from "./opens-path.ts";
import { pullRequestWrites } from "./pull-request-writes.ts";
import { regrantsRemoved } from "./regrants-removed.ts";
import { rootBinding } from "./root-binding.ts";
import type { Rule } from "./rule.ts";
import { transientAccess } from "./transient-access.ts";

export const rules: readonly Rule[] = [
  gainsOwner,
  transientAccess,
  opensPath,
  assumedByOthers,
  matchesEveryone,
  matchesMany,
  newIssuer,
  pullRequestWrites,
  rootBinding,
  lastOwnerGoes,
  identityReplaced,
  regrantsRemoved,
];
