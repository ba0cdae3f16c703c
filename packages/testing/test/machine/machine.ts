import type { Answer, MailIn } from '../../../workflow/src/machine/answers.ts'
import {
  type Answered,
  advance,
  changes,
  commit,
  type MachineEvent,
  type Run,
  start,
} from '../../../workflow/src/machine/index.ts'
import { specOfShape } from '../../../workflow/src/machine/spec-of-shape.ts'
import type { Unit } from '../../../workflow/src/machine/state.ts'
import type { Definition } from './definitions.ts'
import { type Engine, type Happening, type Reply, STAND_IN, type View, WAIT_MS } from './view.ts'
import { nameOf, viewOfMachine } from './view-of-machine.ts'

/** The machine, with an owner whose ticks come at once. */
export class Machine implements Engine {
  readonly #definition: Definition
  readonly #run: Run
  readonly #startedAt: number
  #now: number

  constructor(definition: Definition, runId: string, now: number) {
    this.#definition = definition
    this.#now = now
    this.#startedAt = now
    this.#run = start(runId, specOfShape(definition.shape)).run
    this.#run.now = now
    this.#fold({ type: 'begin' })
    this.#rest()
  }

  async apply(happening: Happening): Promise<Reply | undefined> {
    const answered = this.#apply(happening)
    this.#rest()
    return replyOf(answered)
  }

  async view(): Promise<View> {
    return viewOfMachine(this.#run)
  }

  /** The names of what has not begun. */
  get pending(): ReadonlySet<string> {
    return new Set(
      this.#run.units.flatMap((u) => (u?.status === 'pending' && u.scope !== null ? [nameOf(u)] : [])),
    )
  }

  #apply(happening: Happening): Answered {
    switch (happening.does) {
      case 'pass':
        return this.#pass(happening.ms)
      case 'takeover':
        return this.#fold({ type: 'takeover' })
      case 'operate':
        return this.#operate(happening)
      case 'signal':
        return this.#fold({ type: 'mail', unit: this.#unit(happening.unit).no, mail: mailOf(happening) })
      default:
        return this.#answer(happening)
    }
  }

  #pass(ms: number): undefined {
    const wasOver = this.#isOver
    this.#now += ms
    // Once: if it means nothing now, it is dropped.
    if (this.#isOver && !wasOver) this.#fold({ type: 'deadline' })
  }

  get #isOver(): boolean {
    const { deadlineMs } = this.#definition
    return deadlineMs !== null && this.#now >= this.#startedAt + deadlineMs
  }

  #answer(happening: Extract<Happening, { unit: string }> & { does: AnswerName }): Answered {
    const u = this.#unit(happening.unit)
    const of = { unit: u.no, serial: u.serial }
    switch (happening.does) {
      case 'complete':
        return this.#fold({ type: 'done', ...of, ...this.#answerOf(u, happening) })
      case 'fail':
        return this.#fold({ type: 'failed', ...of, error: 'broken' })
      case 'succeedUnstorably':
        return this.#fold({ type: 'failed', ...of, error: 'too large', succeeded: true })
      case 'tryAgain':
        return this.#fold({ type: 'failed', ...of, error: 'again', retryAt: this.#now + happening.delayMs })
      case 'release':
        return this.#fold({ type: 'released', ...of, called: false })
      case 'lose':
        return this.#fold({ type: 'lost', ...of })
    }
  }

  #answerOf(u: Unit, { yes, items, output, laterMs }: Extract<Happening, { does: 'complete' }>): Answer {
    const kind = this.#kindOf(u)
    if (u.scope!.kind.name === 'loop' && u.phase === 'run') return this.#roundEnd(output, !yes, laterMs)
    if (u.phase === 'decide') return { yes }
    if (u.phase === 'open') return kind === 'sleep' ? { due: this.#now + WAIT_MS } : this.#opening(u, items)
    if (u.phase === 'run' && kind === 'poll' && !yes) return { due: this.#now + WAIT_MS }
    return { output }
  }

  #roundEnd(output: string, more: boolean, delayMs: number): Answer {
    return { output, more, ...(delayMs > 0 ? { nextAt: this.#now + delayMs } : {}) }
  }

  #opening({ key }: Unit, count: number): Answer {
    const window = this.#definition.code.get(String(key))!.concurrency ?? null
    return { items: Array.from({ length: count }, (_, n) => ({ key: String(n) })), window }
  }

  /** Of a step in the shape, where a poll is told apart. */
  #kindOf(u: Unit): string | undefined {
    return this.#definition.shape.steps.find(({ name }) => name === u.key)?.kind
  }

  #operate(happening: Extract<Happening, { does: 'operate' }>): Answered {
    switch (happening.action) {
      case 'cancel':
        return this.#fold({ type: 'cancel' })
      case 'abandon':
        return this.#fold({ type: 'cancel', compensate: false })
      case 'pause':
      case 'resume':
      case 'retry':
        return this.#fold({ type: happening.action })
      case 'skipStep':
        return this.#fold({ type: 'skipStep', unit: this.#unit(happening.unit).no, output: STAND_IN })
      case 'giveUpStep':
        return this.#fold({ type: 'giveUp', unit: this.#unit(happening.unit).no, reason: 'chance' })
      default:
        return this.#fold({ type: STEP_EVENTS[happening.action], unit: this.#unit(happening.unit).no })
    }
  }

  #unit(name: string): Unit {
    return this.#run.units.find((u) => u !== undefined && nameOf(u) === name)!
  }

  #fold(...events: readonly MachineEvent[]): Answered {
    const out = changes()
    let answered: Answered
    for (const event of events) answered = advance(this.#run, event, this.#now, out)
    if (events.length > 0) commit(this.#run)
    return answered
  }

  /** What is due, as one fold, as its owner does at a tick; and the asks that call nobody. */
  #rest(): void {
    for (let isMoved = true; isMoved; ) {
      const due = this.#units.filter((u) => isDue(u, this.#now) && !this.#run.paused).toSorted(byDue)
      this.#fold(...due.map((u) => ({ type: 'due' as const, unit: u.no })))
      const asked = this.#units.filter(
        ({ flying, phase, kind }) =>
          flying && (AT_ONCE.has(phase) || (phase === 'open' && OPENED_AT_ONCE.has(kind.name))),
      )
      for (const u of asked) this.#fold(this.#ofOwner(u))
      isMoved = due.length + asked.length > 0
    }
  }

  get #units(): readonly Unit[] {
    return this.#run.units.filter((u) => u !== undefined)
  }

  /** What an owner answers without a handler of the user’s. */
  #ofOwner({ no: unit, serial, key, phase, kind }: Unit): MachineEvent {
    if (kind.name === 'loop') return { type: 'done', unit, serial }
    if (phase === 'gather') return { type: 'done', unit, serial, output: null }
    if (phase === 'timeout') return { type: 'failed', unit, serial, error: 'timeout' }
    const { timeoutMs } = this.#definition.code.get(String(key))!
    return { type: 'done', unit, serial, due: timeoutMs === undefined ? null : this.#now + timeoutMs }
  }
}

const OPENED_AT_ONCE: ReadonlySet<string> = new Set(['signal', 'loop'])
const AT_ONCE: ReadonlySet<string | null> = new Set(['gather', 'timeout'])
const isDue = ({ tries: { due } }: Unit, now: number): boolean => due !== null && due <= now
const byDue = (one: Unit, other: Unit): number => one.tries.due! - other.tries.due!

type AnswerName = 'complete' | 'fail' | 'succeedUnstorably' | 'tryAgain' | 'release' | 'lose'

const mailOf = ({ rejects }: Extract<Happening, { does: 'signal' }>): MailIn =>
  rejects ? { body: 'signal', reject: true } : { body: 'signal' }

const STEP_EVENTS = {
  retryStep: 'retryStep',
  retryCompensation: 'retryUndo',
  skipCompensation: 'skipUndo',
} as const

function replyOf(answered: Answered): Reply | undefined {
  if (answered === undefined) return undefined
  if ('result' in answered)
    return answered.result === 'delivered' || answered.result === 'kept' ? 'done' : 'unchanged'
  if ('changed' in answered) return answered.changed ? 'done' : 'unchanged'
  const { what, remedy } = answered.refused
  return { refused: remedy === undefined ? what : `${what} ${remedy}` }
}
