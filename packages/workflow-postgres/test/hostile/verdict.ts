import { BelayError } from '@belay/workflow'
import { HOSTILE_TRANSACTIONS } from './transactions.ts'
import { HOSTILE_VALUES } from './values.ts'

/** A call of a public function, in which hostile values replace good ones. */
export interface Row<World> {
  /** The function's name in messages and in the list of public functions, like `runs.list`. */
  readonly name: string
  readonly call: (world: World, ...args: never[]) => unknown
  /** Good arguments. */
  readonly args: (world: World) => readonly unknown[]
  /** Names of options, by the position of their argument; a dot leads into an option. */
  readonly options?: Readonly<Record<number, readonly string[]>>
  /** Called before each call. */
  readonly prepare?: (world: World) => unknown
  /** It calls functions that it is given: their errors are the caller's own. */
  readonly callsBack?: true
  /** A message must contain one of these words, to say where the error is. Default: the function's name. */
  readonly where?: readonly string[]
}

/** Longer than any of these calls takes. A call that takes longer hangs. */
const HANGS_MS = 10_000

/** Makes every call of a row. Reports the calls that did not end with a result or a helpful error. */
export async function complaintsOf<World>(row: Row<World>, world: World): Promise<readonly string[]> {
  const complaints: string[] = []
  for (const { title, args } of callsOf(row, world)) {
    await row.prepare?.(world)
    const complaint = await complaintOf(row, () => row.call(world, ...(args as never[])))
    if (complaint !== undefined) complaints.push(`${row.name} with ${title}: ${complaint}`)
  }
  return complaints
}

function* callsOf<World>(row: Row<World>, world: World) {
  const good = row.args(world)
  yield { title: 'good arguments', args: good }
  for (const [position] of good.entries()) {
    for (const [name, make] of HOSTILE_VALUES) {
      yield { title: `argument ${position} as ${name}`, args: good.with(position, make()) }
    }
    for (const option of [...(row.options?.[position] ?? [])]) {
      for (const [name, make] of option === 'tx' ? HOSTILE_TRANSACTIONS : HOSTILE_VALUES) {
        const options = withOption(good[position], option.split('.'), make())
        yield { title: `${option} as ${name}`, args: good.with(position, options) }
      }
    }
  }
}

function withOption(options: unknown, [name, ...inner]: readonly string[], value: unknown): unknown {
  const own = { ...(options as Readonly<Record<string, unknown>>) }
  own[name!] = inner.length === 0 ? value : withOption(own[name!] ?? {}, inner, value)
  return own
}

async function complaintOf<World>(row: Row<World>, call: () => unknown): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const hangs = new Promise((resolve) => {
    // biome-ignore lint/style/noRestrictedGlobals: bounds a wait.
    timer = setTimeout(resolve, HANGS_MS, HANGS)
  })
  try {
    const answer = await Promise.race([call(), hangs])
    return answer === HANGS ? `it did not answer within ${HANGS_MS} ms` : undefined
  } catch (error) {
    if (BelayError.is(error)) return complaintAbout(row, error)
    const told = describe(error)
    return row.callsBack && /a trap of the caller|Class constructor Hostile/.test(told)
      ? undefined
      : `it threw ${told}`
  } finally {
    clearTimeout(timer)
  }
}

const HANGS = Symbol('hangs')

/** What is wrong with an error's message, if anything. */
function complaintAbout<World>(
  { name, where }: Row<World>,
  { code, message }: BelayError,
): string | undefined {
  const places = where ?? [`${name.split(' ').at(-1)!.split('.').at(-1)}()`]
  if (!places.some((place) => message.includes(place))) return `nothing says where: ${message}`
  if (RAW.test(message) || (code !== 'invalid_definition' && /secret/.test(message)))
    return `it shows what is raw: ${message}`
  // Such an action is refused for the state of a run or a step, and there may be no remedy.
  if (code !== 'action_refused' && !REMEDY.test(message)) return `nothing says what to do: ${message}`
  return message.endsWith('.') ? undefined : `it ends without a full stop: ${message}`
}

const RAW = /\[object |Cannot (read|convert)|is not (a function|iterable)|undefined undefined|\0/
const REMEDY =
  /must|[Gg]ive |Pass |[Cc]heck |Use |Name |Keep |Remove |Add |Define |Narrow |Store |Return |It takes|Did you mean|Nothing was|These do|None of its|was pruned|is one of|has no step|Wait |Raise |Its steps are|To await|Leave the character out|await it again|watch it again|Start |Try again/

function describe(error: unknown): string {
  try {
    const { name, message, code, stack } = error as Error & { code?: unknown }
    const at = stack?.split('\n').find((line) => line.includes('/src/'))
    return `${name} ${String(code ?? '')}: ${message} ${at ?? ''}`
  } catch {
    return 'what cannot be looked at'
  }
}
