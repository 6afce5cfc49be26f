// The certificate and private key of a server that terminates TLS by itself, from PEM files.
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { UserError } from "../../schema/index.ts";

export interface TlsKeys {
  /** PEM: the certificate, then its issuers */
  cert: string;
  /** PEM: its private key */
  key: string;
}

/** Files that the server cannot use for TLS, in one sentence. */
export class TlsError extends UserError {
  override readonly name = "TlsError";
}

export const readTlsKeys = (certFile: string, keyFile: string): TlsKeys => {
  const keys = { cert: read("certificate", certFile), key: read("private key", keyFile) };
  try {
    createSecureContext({ cert: keys.cert });
  } catch (error) {
    throw new TlsError(`${certFile} holds no certificate in PEM`, { cause: error });
  }
  try {
    createSecureContext(keys);
  } catch (error) {
    const mismatch = (error as NodeJS.ErrnoException).code === "ERR_OSSL_X509_KEY_VALUES_MISMATCH";
    const text = mismatch
      ? `the private key in ${keyFile} does not belong to the certificate in ${certFile}`
      : `${keyFile} holds no private key in PEM that can be used without a password`;
    throw new TlsError(text, { cause: error });
  }
  return keys;
};

const read = (what: string, file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new TlsError(`cannot read the ${what} ${file}: ${(error as Error).message}`, { cause: error });
  }
};
