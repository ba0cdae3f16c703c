import type { Call, CallProcess } from './call.ts'
import { CliError } from './cli-error.ts'
import { parse } from './parse.ts'
import type { Store } from './store/store.ts'
import type { FlagsGiven } from './table/flags.ts'
import type { ExitStatus } from './table/verb.ts'
import { Output } from './terminal/output.ts'
import { safeLines } from './terminal/text.ts'

/** Runs one call of the command line. Resolves to its exit status; never rejects. */
export async function main(
  argv: readonly string[],
  process: CallProcess,
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
): Promise<ExitStatus> {
  let store: Store | undefined
  try {
    const typed = parse(argv, process, version)
    if ('shows' in typed) {
      process.stdout.write(typed.shows)
      return 0
    }
    const { verb, flags } = typed
    const call: Call = {
      ...typed,
      out: outputOf(process, flags),
      process,
      signal,
      async connect() {
        const { openStore } = await import('./store/store.ts')
        // Looking at a store makes none.
        const mayCreate = verb.name === 'migrate' && flags['dry-run'] !== true
        store ??= await openStore(flags, process, { mayCreate })
        return store
      },
    }
    const module = await verb.load()
    return (await module.run(call)) ?? 0
  } catch (error) {
    return tell(error, process, store)
  } finally {
    await store?.close().catch(() => {})
  }
}

function outputOf({ stdout, stderr, env }: CallProcess, flags: FlagsGiven): Output {
  const { json = false, plain = false, ascii = false, utc = false, color, fields } = flags
  return new Output({ stdout, stderr, env, json, plain, ascii, utc, color, fields })
}

/** Codes of errors that say that the store cannot be reached or used. */
const STORE_CODES: ReadonlySet<string> = new Set([
  'directory_in_use',
  'schema_missing',
  'schema_outdated',
  'schema_too_new',
  'store_contended',
  'store_misconfigured',
  'store_unavailable',
])

/** Codes of errors about what was typed. */
const USE_CODES: ReadonlySet<string> = new Set(['invalid_option', 'invalid_input'])

function tell(error: unknown, { stderr }: CallProcess, store: Store | undefined): ExitStatus {
  if (error instanceof CliError) {
    write(stderr, error.message, error.commands)
    return error.status
  }
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  // The engine names the method that was called; here nobody called one.
  const text = (typeof message === 'string' ? message : String(error)).replace(
    /^[\w.]+\(\): (.)/,
    (_, first) => String(first).toUpperCase(),
  )
  if (typeof code === 'string' && STORE_CODES.has(code)) {
    const isOld = code === 'schema_missing' || code === 'schema_outdated'
    write(
      stderr,
      `${text}${store === undefined ? '' : ` From ${store.source}.`}`,
      isOld ? ['migrate --dry-run'] : [],
    )
    return 3
  }
  write(stderr, text, [])
  return typeof code === 'string' && USE_CODES.has(code) ? 2 : 1
}

function write(stderr: CallProcess['stderr'], message: string, commands: readonly string[]): void {
  for (const line of safeLines(message)) stderr.write(`${line}\n`)
  for (const command of commands) stderr.write(`  belay ${command}\n`)
}
