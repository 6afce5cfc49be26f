// The flags of `irm token`.
import type { Command } from "commander";
import type { Exit } from "./terminal.ts";
import type { TokenFlags } from "./token.ts";

export const addTokenCommand = (program: Command, exit: Exit): void => {
  program
    .command("token")
    .usage("--issuer URL --subject S [FLAGS]")
    .summary("get an identity token from the development issuer")
    .description("Prints an identity token of the development issuer that irm serve --dev runs.")
    .option("--issuer <URL>", "the issuer, as irm serve --dev prints it")
    .option("--subject <S>", "sub of the token")
    .option("--audience <A>", "aud of the token (default: the address of the token exchange)")
    .option(
      "--claim <k=v>",
      "a further claim; repeatable; v is JSON if it parses, otherwise a string",
      (text: string, before: string[] = []) => [...before, text],
    )
    .action(async (flags: TokenFlags) => {
      const { token } = await import("./token.ts");
      exit(await token(flags));
    });
};
