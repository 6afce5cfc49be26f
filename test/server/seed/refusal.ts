// The lines of the message that refuses a seed.
import { expect } from "vitest";
import { parseSeed, SeedError } from "../../../server/index.ts";

export const refusal = (text: string): string[] => {
  try {
    parseSeed(text, "f.yaml");
  } catch (error) {
    expect(error).toBeInstanceOf(SeedError);
    return (error as SeedError).message.split("\n");
  }
  throw new Error("the seed was accepted");
};
