// Requests for several records: what goes to the service is made of the recorded writes, and what comes back is each record's own answer.
import { type Json, type OperationName, parentOf } from "../schema/index.ts";

interface Batch {
  /** of the requests for single records */
  request(singles: readonly Json[]): Json;
  /** the answers for single records */
  recordsIn(answer: Json): readonly Json[];
  answer(request: Json, records: readonly Json[]): Json;
}

const BATCHES: Partial<Record<OperationName, Batch>> = {
  BatchCreateRoleBindings: {
    request: (singles) => ({
      parent: singles[0]?.parent,
      requests: singles.map(({ roleBinding }) => ({ roleBinding })),
    }),
    recordsIn: ({ roleBindings }) => roleBindings as Json[],
    answer: (_, roleBindings) => ({ roleBindings }),
  },
  BatchDeleteExternalGroupRoleMappings: {
    request: (singles) => ({
      parent: parentOf(singles[0]?.uid as string),
      names: singles.map(({ uid }) => uid),
    }),
    recordsIn: ({ externalGroupRoleMappings }) => externalGroupRoleMappings as Json[],
    // A delete of a single one does not show what it has deleted.
    answer: ({ parent }, records) => ({
      parent,
      externalGroupRoleMappings: records.filter(({ uid }) => uid !== undefined),
    }),
  },
};

export const batchOf = (operation: OperationName): Batch | undefined => BATCHES[operation];
