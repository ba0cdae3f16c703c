import { parseExactJson } from '@belay/workflow'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import { withoutPassword } from '../store/place.ts'
import { safe } from '../terminal/text.ts'
import { quoted } from './commands.ts'

/** The command as it was typed, without `belay` and without the password of a URL, with more at its end. A flag of `more` takes the place of one that was given. */
export function typedCommand(
  { verb, args, rest, flags }: Pick<Call, 'verb' | 'args' | 'rest' | 'flags'>,
  ...more: readonly string[]
): string {
  const words = [...Object.values(args), ...rest].filter((word) => word !== undefined)
  const given = Object.entries(flags)
    .filter(([name]) => !more.includes(`--${name}`))
    .flatMap(([name, value]) => flagAsTyped(name, value))
  const operands = words.map(quoted)
  // A key may begin like a flag.
  const areFlags = words.some((word) => word.startsWith('-') && word !== '-')
  const all = areFlags ? [...given, ...more, '--', ...operands] : [...operands, ...given, ...more]
  return safe([verb.name, ...all].join(' '))
}

function flagAsTyped(name: string, value: unknown): readonly string[] {
  if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`]
  const values = Array.isArray(value) ? value : [value]
  return values.map((one) => `--${name} ${quoted(withoutPassword(String(one)))}`)
}

/** The value of a flag that takes JSON; undefined if it was not given. Throws a `CliError` with status 2 for anything else, and for a number that JSON would change. */
export function jsonOf(name: 'data' | 'input' | 'output', text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return parseExactJson(text)
  } catch (error) {
    if (error instanceof RangeError) throw misused(`--${name}: ${error.message}`)
    throw misused(
      `--${name} is not JSON: ${(error as Error).message}. A text takes double quotes: --${name} '"yes"'.`,
    )
  }
}
