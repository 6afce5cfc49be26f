// Removes the tokens of this process from texts: a proxy's page or a server's message may echo a header.

export type Redactor = ReturnType<typeof redactor>;

// Anything shorter would remove ordinary words from texts.
const MIN_LENGTH = 8;

export const redactor = () => {
  const secrets = new Set<string>();
  return {
    /** remembers a secret and returns it */
    note(secret: string): string {
      if (secret.length >= MIN_LENGTH) secrets.add(secret);
      return secret;
    },
    /** the text without the remembered secrets */
    redact(text: string): string {
      let clean = text;
      for (const secret of secrets) clean = clean.replaceAll(secret, "[secret]");
      return clean;
    },
  };
};
