/** What to do about an error of the database, by its SQLSTATE or Node's code. The place is that of the database. */
type Remedies = Readonly<Record<string, (place: Place) => string>>

interface Place {
  readonly host: string
  readonly database: string
  readonly user: string
}

/** Of errors that pass by themselves, or once an administrator has acted. A key of two or three characters stands for its class. */
const OUTAGES: Readonly<Record<string, string>> = {
  '25006':
    'The server is a standby, which takes no writes, or the transaction is read only: give Belay the address of the primary, and begin your own transactions READ WRITE.',
  '25P03':
    'The server ended a transaction that was idle for too long: look for a blocked process, or raise idle_in_transaction_session_timeout.',
  '25P04': 'The server ended a transaction that took too long: raise transaction_timeout for this role.',
  '53100': 'The disk of the database is full: free space on it, or enlarge it.',
  '53200': 'The server is out of memory: give it more, or lower work_mem and the number of connections.',
  '53300':
    'The server has no connection left: raise max_connections, lower connectionsMax and transactionsMax, or put a pooler in between.',
  '53400': 'A limit in the configuration of the server was exceeded, such as temp_file_limit: raise it.',
  '53': 'The server is out of a resource: look in its log for which one.',
  '57014':
    'The server ended the statement, because it took longer than statement_timeout or Belay’s own limit for a query allows (queryTimeoutMs, or --timeout on a command line), or at the request of an administrator: look for locks and a slow disk, or raise the limit.',
  '57P01':
    'An administrator ended the session, or the server shuts down: nothing is to be done if it is restarted or fails over.',
  '57P02': 'Another session of the server crashed, and the server recovers: look in its log for the reason.',
  '57P03': 'The server is starting up, shutting down or recovering: wait for it.',
  '57P04':
    'The database was dropped while Belay was connected to it: restore it, or correct the connection string.',
  '57P05': 'The server ended an idle session: raise idle_session_timeout for this role, or set it to 0.',
  '58': 'The server could not read or write a file: look in its log, and check its disk.',
}

export function outageRemedy(code: string | null): string | undefined {
  return code === null ? undefined : (OUTAGES[code] ?? OUTAGES[code.slice(0, 2)])
}

/** Of errors that do not pass until somebody corrects the configuration. */
const MISCONFIGURATIONS: Remedies = {
  '28P01': ({ user }) => `Check the password of user "${user}" in the connection string.`,
  '28000': ({ user }) => `Check that user "${user}" exists and that pg_hba.conf lets it in.`,
  '3D000': ({ database }) => `Create it (createdb ${database}) or correct the connection string.`,
  '42501': ({ user }) =>
    `Grant user "${user}" the rights that Belay needs on its schema and tables, and let no policy of row-level security apply to it there; migrations also need CREATE on the schema.`,
  '26000': () =>
    'The server has lost the prepared statements of this connection: with a pooler in transaction mode, set `prepare: false`.',
  '42P05': () =>
    'Another client has prepared statements under the same names: with a pooler in transaction mode, set `prepare: false`.',
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host }) =>
    `The certificate of the server at "${host}" is for another host: connect with a host name that the certificate names, or have one issued for this host.`,
  CERT_HAS_EXPIRED: () => 'Renew the certificate of the server.',
  ENOTFOUND: ({ host }) => `The host name "${host}" is unknown: correct the connection string.`,
  ENOENT: ({ host }) => `There is no socket at "${host}": correct the connection string.`,
}

// Node's codes of certificates that it does not accept, like SELF_SIGNED_CERT_IN_CHAIN, and of connections on which no encryption was agreed.
const UNTRUSTED = /^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_|CRL_|INVALID_|ERROR_IN_|PATH_LENGTH_)/
const UNENCRYPTED = /^(EPROTO|ERR_SSL_|ERR_TLS_)/

// pg reports these without a code.
const WITHOUT_CODE: readonly (readonly [RegExp, string])[] = [
  [
    /does not support SSL/,
    'Turn TLS on at the server (ssl = on). In a network that you trust, connect without it: sslmode=disable in the URL.',
  ],
  [
    /^SASL: .*password|no password supplied/i,
    'Give the password in the connection string, or in the environment variable PGPASSWORD.',
  ],
]

/** What to correct, if the error does not pass until somebody does. */
export function misconfigurationRemedy(
  { code, message }: { readonly code: string | null; readonly message: string },
  place: Place,
): string | undefined {
  if (code === null) return WITHOUT_CODE.find(([words]) => words.test(message))?.[1]
  const known = MISCONFIGURATIONS[code]?.(place)
  if (known !== undefined) return known
  if (UNTRUSTED.test(code)) {
    return 'This process does not know who signed the certificate of the server: give the certificate of that authority, with sslrootcert=<file> in the URL or ssl: { ca } in the configuration.'
  }
  if (!UNENCRYPTED.test(code)) return undefined
  return 'The server and this process did not agree on TLS: check the versions of TLS that the server allows, and that nothing else listens on this port.'
}
