import { question } from '../life.ts'
import { complete, forget, hasEnded, note, outcomeOf, park, touch } from '../outcomes.ts'
import { at, begin, birth } from '../scope.ts'
import type { Kind, Run, Spec, Unit } from '../state.ts'

export interface FunctionSpec extends Spec {
  readonly steps: Readonly<Record<string, Spec>>
}

/** Units by the order of their ends; and for each moment the latest birth among those that had ended by then. */
interface Times {
  readonly line: readonly (Unit | undefined)[]
  readonly since: readonly number[]
}

interface Recording {
  /** The number of the newest end. */
  ended?: number
}

const endsOf = (s: Unit) => (s.note?.['ends'] ?? 0) as number
const nthOf = (u: Unit) => u.note?.['nth'] as number | undefined
const isCalled = (u: Unit): boolean => u.status !== 'pending' || u.note?.['called'] === true
const afterOf = (u: Unit) => (u.note?.['after'] ?? 0) as number
const memOf = (s: Unit): Recording => {
  s.mem ??= {}
  return s.mem as Recording
}

/**
 * A function of the user’s that opens units as it goes. Its body is a handler; it begins anew at each takeover, and its calls are answered from the rows. A
 * unit keeps how many had ended when it was called (`after`) and the how many-th it was to end (`nth`): its place in time. One that runs again waits until it
 * is called again.
 */
export const recorded: Kind = {
  name: 'function',
  named: true,
  specOf: (spec, key) => (spec as FunctionSpec).steps[String(key).split('#')[0]!],
  open(run, s) {
    const ended = s.units!.reduce((most, u) => Math.max(most, nthOf(u) ?? 0), endsOf(s))
    s.mem = { ended } satisfies Recording
    if (s.note?.['returned'] !== true) question(run, s, 'body')
    for (const u of s.units!) if (isCalled(u)) begin(run, u)
  },
  call(run, s, { serial, key, kind }) {
    if (!s.flying || s.serial !== serial) return
    const known = at(s, key)
    if (known !== undefined && known.kind.name !== kind) return park(run, s, 'diverged')
    const u = known ?? birth(run, s, key, recorded.specOf!(s.spec, key)!)
    if (hasEnded(u) || u.note?.told === true) return tell(run, s, u)
    if (isCalled(u)) return
    if (nthOf(u) !== undefined) {
      // It ends another time. No number is given twice.
      note(s, { ends: memOf(s).ended })
      touch(run, s)
      forget(u, 'nth')
    }
    note(u, { after: memOf(s).ended, called: true })
    touch(run, u)
    begin(run, u)
  },
  answered(run, s, { calls, output }) {
    // It did not call what it had called before.
    if (calls !== s.units!.length) return park(run, s, 'diverged')
    s.phase = null
    note(s, { returned: true })
    touch(run, s, { output })
    if (s.alive === 0) complete(run, s)
  },
  ended(run, s, u) {
    if (nthOf(u) === undefined) {
      const mem = memOf(s)
      mem.ended = (mem.ended ?? 0) + 1
      note(u, { nth: mem.ended })
      touch(run, u)
    }
    tell(run, s, u)
  },
  idle(run, s) {
    if (s.note?.['returned'] === true) complete(run, s)
  },
  /** Those that had ended when it was born, less those that another of them already follows. */
  before(s, u) {
    const { line, since } = timesOf(s)
    const after = afterOf(u)
    return line.slice(since[after]! + 1, after + 1).filter((each) => each !== undefined)
  },
  bears: () => true,
  rebirths: true,
  gives: ['after', 'nth'],
  remembers: (s) => (endsOf(s) > 0 ? { ends: endsOf(s) } : null),
}

/** By what the function counts, which is made anew whenever it is entered. */
const kept = new WeakMap<object, Times>()

/** Asked for each of its units. Once nothing can end in it any more, they are the same for all. */
function timesOf(s: Unit): Times {
  if (!hasEnded(s) && s.status !== 'undoing') return readTimes(s)
  const mem = memOf(s)
  const times = kept.get(mem) ?? readTimes(s)
  kept.set(mem, times)
  return times
}

function readTimes(s: Unit): Times {
  const line: (Unit | undefined)[] = []
  for (const u of s.units!) {
    const nth = nthOf(u)
    if (nth !== undefined) line[nth] = u
  }
  const since = [0]
  for (let n = 1; n < line.length; n++)
    since[n] = Math.max(since[n - 1]!, line[n] === undefined ? 0 : afterOf(line[n]!))
  return { line, since }
}

function tell(run: Run, s: Unit, u: Unit): void {
  if (s.flying) run.out.tell.push({ scope: s.no, serial: s.serial, key: u.key, status: outcomeOf(u) })
}
