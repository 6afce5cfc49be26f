// A command: one request, and what its answer has to be. It names records by number, so that it means something in every
// oracle and a failing run shrinks. What commands are made of is good mostly, so that an oracle fills up.
import * as fc from "fast-check";
import { checkAnswer, type Expectation } from "./expectation.ts";
import { type Json, KINDS, type Kind, type Oracle, type Row, rowsOf } from "./oracle.ts";
import type { Real, Request } from "./real.ts";

export type Command = fc.AsyncCommand<Oracle, Real>;

export interface Step {
  request: Request;
  /** where it is not the command's */
  caller?: number;
  expectation: Expectation;
  /** what has to be looked at besides */
  after?: (real: Real) => Promise<void>;
}

/** Of a record of a kind: one that is there, one that was, or one that never was. */
export interface Ref {
  n: number;
  which: "live" | "gone" | "never";
}

export const rarely = <T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });

const common = {
  /** index of the caller: the owner, or the reader */
  caller: rarely(5, fc.constant(0), fc.constant(1)),
  snake: fc.boolean(),
  version: fc.constantFrom("v2beta1", "v2"),
};

type Values<P> = { [K in keyof P]: P[K] extends fc.Arbitrary<infer T> ? T : never };
export type Common = Values<typeof common>;

/**
 * `step` is asked twice, so it looks and does not change; undefined: nothing to do in this oracle. It gets the values of
 * `params`, and the uid of the caller.
 */
export const command = <P extends Record<string, fc.Arbitrary<unknown>>>(
  title: string,
  params: P,
  step: (oracle: Oracle, params: Values<P> & Common, by: string) => Step | undefined,
): fc.Arbitrary<Command> =>
  fc.record({ ...params, ...common }).map((values): Command => {
    const own = values as Values<P> & Common;
    const stepIn = (oracle: Oracle) => step(oracle, own, oracle.callers[own.caller] as string);
    return {
      check: (oracle) => stepIn(oracle as Oracle) !== undefined,
      run: async (oracle, real) => {
        const { request, expectation, caller = own.caller, after } = stepIn(oracle) as Step;
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
      toString: () => `${title} ${JSON.stringify(own)}`,
    };
  });

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

export const path = ({ version }: Common, kind: Kind, rest = "") => `/iam/${version}/${kind}${rest}`;
export const body = (fields: Json, { snake }: Common) => spell(fields, snake) as Json;

export const kind = fc.constantFrom(...KINDS);
export const ref: fc.Arbitrary<Ref> = fc.record({
  n: fc.nat(1000),
  which: rarely<Ref["which"]>(20, fc.constant("live"), fc.constantFrom("gone", "never")),
});
export const seldom = rarely(5, fc.constant(false), fc.constant(true));
