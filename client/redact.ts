// Removes the tokens of this process from texts: a proxy's page or a server's message may echo a header.

export interface Redactor {
  /** remembers a secret and returns it */
  note(secret: string): string;
  /** the text without the remembered secrets */
  redact(text: string): string;
}

// Anything shorter would remove ordinary words from texts.
const MIN_LENGTH = 8;

export const redactor = (): Redactor => {
  const secrets = new Set<string>();
  return {
    note(secret) {
      if (secret.length >= MIN_LENGTH) secrets.add(secret);
      return secret;
    },
    redact(text) {
      let clean = text;
      for (const secret of secrets) clean = clean.replaceAll(secret, "[secret]");
      return clean;
    },
  };
};
