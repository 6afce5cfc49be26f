// A command: one request, and what its answer has to be. It names records by number, so that it means something in every
// oracle and a failing run shrinks.
import type * as fc from "fast-check";
import { checkAnswer, type Expectation } from "./expectation.ts";
import { type Json, type Kind, type Oracle, type Row, rowsOf } from "./oracle.ts";
import type { Real, Request } from "./real.ts";
import type { Common, Ref } from "./value.ts";

export type Command = fc.AsyncCommand<Oracle, Real>;

export interface Step {
  request: Request;
  /** where it is not the command's */
  caller?: number;
  expectation: Expectation;
  /** what has to be looked at besides */
  after?: (real: Real) => Promise<void>;
}

export const NEVER = "f".repeat(16);

/** The record that a number means: of those that the caller of `among` would take. */
export const pick = (
  oracle: Oracle,
  kind: Kind,
  { n, which }: Ref,
  among: (row: Row) => boolean = () => true,
): string => {
  const rows = which === "gone" ? oracle.gone.filter((row) => row.kind === kind) : rowsOf(oracle, kind).filter(among);
  const row = which === "never" ? undefined : rows[n % rows.length];
  return row?.uid ?? `${oracle.organization}/${NEVER}`;
};

export const snakeOf = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Keys in one of the two spellings (docs/contract.md#json). */
const spell = (value: unknown, snake: boolean): unknown => {
  if (!snake || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => spell(item, snake));
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [snakeOf(key), spell(own, snake)]));
};

export const present = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined));

/** `step` is asked twice, so it looks and does not change; undefined: nothing to do in this oracle. */
export const command =
  <P>(title: string, step: (oracle: Oracle, params: P & Common) => Step | undefined) =>
  ([own, shared]: [P, Common]): Command => {
    const params = { ...shared, ...own };
    return {
      check: (oracle) => step(oracle as Oracle, params) !== undefined,
      run: async (oracle, real) => {
        const { request, expectation, caller = params.caller, after } = step(oracle, params) as Step;
        const answer = await real.send(caller, request);
        try {
          checkAnswer(answer, expectation);
          await after?.(real);
        } catch (error) {
          const { method, target, query, body } = request;
          throw new Error(`${method} ${target} ${JSON.stringify({ query, body })}: ${(error as Error).message}`);
        }
        real.counts.commands += 1;
      },
      toString: () => `${title} ${JSON.stringify(params)}`,
    };
  };

export const path = ({ version }: Common, kind: Kind, rest = "") => `/iam/${version}/${kind}${rest}`;
export const body = (fields: Json, { snake }: Common) => spell(fields, snake) as Json;
