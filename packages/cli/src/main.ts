import type { BelayError, Quote } from '@belay/workflow'
import type { Call, Calling, CallProcess } from './call.ts'
import { CliError } from './cli-error.ts'
import type { ExitStatus } from './exit-status.ts'
import { parse } from './parse.ts'
import type { Store } from './store/store.ts'
import type { FlagsGiven } from './table/flags.ts'
import { Output } from './terminal/output.ts'
import { safeLines, width, wrap } from './terminal/text.ts'
import { loadVerb } from './verbs/index.ts'

/** Runs one call of the command line. Resolves to its exit status; never rejects. */
export async function main(
  argv: readonly string[],
  process: CallProcess,
  { version, signal, quote, onlyDry = false }: Calling,
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
      again: main,
      process,
      signal,
      quote,
      async connect() {
        const { openStore } = await import('./store/store.ts')
        // Looking at a store makes none.
        const mayCreate = verb.name === 'migrate' && flags['dry-run'] !== true
        store ??= await openStore(flags, process, { mayCreate })
        return store
      },
    }
    const isChecked = onlyDry && verb.access === 'write' && flags['dry-run'] !== true
    const module = isChecked ? await import('./runs/would.ts') : await loadVerb(verb.name)
    return (await module.run(call)) ?? 0
  } catch (error) {
    return await tell(error, process, { store, quote })
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

async function tell(
  error: unknown,
  { stderr }: CallProcess,
  { store, quote }: { readonly store: Store | undefined; readonly quote: Quote | undefined },
): Promise<ExitStatus> {
  if (error instanceof CliError) {
    write(stderr, error.message, error.commands)
    return error.status
  }
  // The engine is not loaded for help and wrong uses.
  const { BelayError } = await import('@belay/workflow')
  if (!BelayError.is(error)) {
    write(stderr, unforeseen(error, quote), [])
    return 1
  }
  if (STORE_CODES.has(error.code)) {
    write(stderr, [told(error), ...(store === undefined ? [] : [`From ${store.source}.`])].join(' '), [
      ...(OLD_SCHEMA.has(error.code) ? ['migrate --dry-run'] : []),
    ])
    return 3
  }
  write(stderr, withoutCall(error.message), [])
  return USE_CODES.has(error.code) ? 2 : 1
}

/** Drivers quote rows in their errors. */
function unforeseen(error: unknown, quote: Quote | undefined): string {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
  return quote === undefined ? message : `The call failed with ${quote({ what: 'error', name, message })}.`
}

/** The engine names the method that was called; here nobody called one. */
function withoutCall(message: string): string {
  return message.replace(/^[\w.]+\(\): (.)/, (_, first) => String(first).toUpperCase())
}

const OLD_SCHEMA: ReadonlySet<string> = new Set(['schema_missing', 'schema_outdated'])

/** An old schema’s remedy is a command here. */
function told({ code, what, remedy }: BelayError): string {
  return OLD_SCHEMA.has(code) || remedy === undefined ? what : `${what} ${remedy}`
}

function write(stderr: CallProcess['stderr'], message: string, commands: readonly string[]): void {
  for (const line of safeLines(message).flatMap((each) => fitted(each, stderr))) stderr.write(`${line}\n`)
  for (const command of commands) stderr.write(`  belay ${command}\n`)
}

/** A sentence is broken between words at a terminal; what is indented is laid out already. */
function fitted(line: string, { isTTY, columns: told }: CallProcess['stderr']): readonly string[] {
  // Some terminals say 0.
  const columns = told || 80
  return isTTY && !line.startsWith(' ') && width(line) > columns ? wrap(line, columns) : [line]
}
