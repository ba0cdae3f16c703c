import type { Adapter } from '../adapter/index.ts'
import { BelayError } from '../errors.ts'
import type { Logger } from '../logger.ts'

/**
 * The lease in development. A restarted worker waits this long for the steps of a process that was killed; a process that stands still for longer,
 * at a breakpoint, may lose its steps to another one.
 */
export const DEV_LEASE_MS = 5_000

/**
 * Lets the adapter migrate its schema. Refused where NODE_ENV says that this is production. Nothing turns development mode on but its option.
 *
 * @throws BelayError `invalid_option`.
 */
export function enterDevelopment(call: string, adapter: Adapter): void {
  if (nodeEnv() !== 'production') {
    adapter.allowMigrations?.()
    return
  }
  throw new BelayError(
    'invalid_option',
    `${call}: dev is true, but NODE_ENV is 'production'. Development mode migrates the database and accepts changed workflows under their old version. Give dev: process.env.NODE_ENV === 'development', or leave it out.`,
  )
}

/** Says when a worker starts that development mode is on, or, where NODE_ENV says that this is development, that it exists. */
export function tellMode({ dev, leaseMs, log }: { dev: boolean; leaseMs: number; log: Logger }): void {
  if (dev) {
    log.info(
      'Development mode is on: a changed workflow runs under a version of its own, the schema is migrated at the start, and errors of handlers are logged. Never use it in production.',
      { leaseMs },
    )
  } else if (nodeEnv() === 'development') {
    log.info(
      'NODE_ENV is development, and development mode is off. createEngine({ dev: true }) lets you change workflows without a new version, migrates the schema, and shortens the lease.',
    )
  }
}

/** Undefined outside of Node, as in a browser. */
function nodeEnv(): string | undefined {
  const { process } = globalThis as { process?: { env?: { NODE_ENV?: string } } }
  return process?.env?.NODE_ENV
}
