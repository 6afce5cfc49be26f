// The diagnostics at the end of a run. The engine also shows each message during the run.

/** The part of the output after `Diagnostics:`. */
export const diagnosticsOf = (output: string): string => output.split("\nDiagnostics:\n")[1] ?? "";

export const countOf = (text: string, part: string): number => text.split(part).length - 1;
