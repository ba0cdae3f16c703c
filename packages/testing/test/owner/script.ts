import type { Answer } from '../../../workflow/src/machine/answers.ts'
import type { Phase } from '../../../workflow/src/machine/records.ts'
import type { Unit } from '../../../workflow/src/machine/state.ts'
import type { Answered, Ask, Asker, Interruption, UnderWay } from '../../../workflow/src/owner/index.ts'
import { Json } from '../../../workflow/src/owner/index.ts'

/** A handler that was called. */
export interface Called {
  readonly worker: string
  readonly run: string
  /** Keys from the root on; of an item or a round `*`: `pack.*`. */
  readonly name: string
  /** Of an item or a round: its place. */
  readonly place: number | null
  readonly phase: Phase
  readonly serial: number
  readonly attempt: number
  readonly losses: number
  /** Which effect it is: the same for all attempts of it. */
  readonly effect: string
  readonly input: unknown
  /** Fires with the reason why it is to end. */
  readonly signal: AbortSignal
  readonly ask: Ask
}

export type Handler = (call: Called) => unknown
/** By the name of a unit; of another phase than `run` with it: `charge:undo`, `pack:open`. */
export type Handlers = Readonly<Record<string, Handler>>

/** What a handler says to the machine itself. */
export class Say {
  readonly answer: Answer

  constructor(answer: Answer) {
    this.answer = answer
  }
}

export const say = (answer: Answer): Say => new Say(answer)
export const json = (value: unknown): Json => new Json(JSON.stringify(value))

/** Thrown by a handler that is to be called again after so long. */
export class Again extends Error {
  readonly delayMs: number

  constructor(delayMs: number) {
    super('again')
    this.delayMs = delayMs
  }
}

/** Until it is told to end. */
export const hang = ({ signal }: Called): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('told to end')))
  })

export const KILLS_MAX = 3

interface ScriptParts {
  readonly worker: string
  readonly handlers: (workflow: string) => Handlers
  readonly calls: Called[]
  readonly now: () => number
}

/** Calls the handlers of a test. */
export class Script implements Asker {
  readonly #parts: ScriptParts

  constructor(parts: ScriptParts) {
    this.#parts = parts
  }

  ask(ask: Ask): Answered | UnderWay {
    const { calls, handlers } = this.#parts
    const { owned, unit, phase } = ask
    if (unit.tries.kills >= KILLS_MAX) return failed(ask, { message: 'poison' })
    const stop = new AbortController()
    const call = this.#called(ask, stop.signal)
    const named = phase === 'run' ? call.name : `${call.name}:${phase}`
    const handler = handlers(owned.code.workflow)[named] ?? DEFAULTS[phase] ?? nothing
    calls.push(call)
    let result: unknown
    try {
      result = handler(call)
    } catch (error) {
      return this.#failure(call, error)
    }
    if (!(result instanceof Promise)) return success(ask, result)
    return {
      answered: result.then(
        (value) => success(ask, value),
        (error: unknown) => this.#failure(call, error),
      ),
      interrupt: (reason) => stop.abort(reason),
    }
  }

  #called(ask: Ask, signal: AbortSignal): Called {
    const { owned, unit, phase, serial } = ask
    const { attempt, losses } = unit.tries
    const direction = phase === 'undo' ? 'undo' : 'do'
    return {
      ...{ worker: this.#parts.worker, run: owned.id, name: nameOf(unit), phase, serial, attempt, losses },
      place: typeof unit.key === 'number' ? unit.key : null,
      effect: `${owned.id}:${unit.no}:${unit.round}:${direction}`,
      input: owned.input === null ? null : JSON.parse(owned.input),
      ...{ signal, ask },
    }
  }

  #failure({ ask, signal }: Called, error: unknown): Answered {
    const reason = signal.aborted ? (signal.reason as Interruption) : null
    const { unit, serial } = ask
    if (reason === 'stopping') return { type: 'released', unit: unit.no, serial, called: true }
    const interrupted = reason === 'aborted' ? { interrupted: true as const } : {}
    const again = error instanceof Again ? { retryAt: this.#parts.now() + error.delayMs } : {}
    return { ...failed(ask, { message: (error as Error).message }), ...interrupted, ...again }
  }

  killsMax(): number {
    return KILLS_MAX
  }

  unstorable(): Json {
    return json({ message: 'cannot be stored' })
  }

  errorOf(_owned: unknown, _unit: unknown, word: string): Json {
    return json({ message: word })
  }

  childError(
    _owned: unknown,
    _unit: unknown,
    { ended, cause }: { readonly ended: string; readonly cause: string | null },
  ): Json {
    return json({
      message: `the child ended as ${ended}`,
      cause: cause === null ? null : (JSON.parse(cause) as unknown),
    })
  }

  causeOf(_owned: unknown, cause: unknown): string {
    return JSON.stringify(cause)
  }
}

const failed = ({ unit, serial }: Ask, error: unknown) =>
  ({ type: 'failed', unit: unit.no, serial, error: json(error) }) as const

function success({ unit, serial, phase }: Ask, value: unknown): Answered {
  const answer =
    value instanceof Say
      ? value.answer
      : phase === 'run'
        ? { output: value instanceof Json ? value : json(value ?? null) }
        : {}
  return { type: 'done', unit: unit.no, serial, ...answer }
}

const nothing = () => undefined

const DEFAULTS: Readonly<Partial<Record<Phase, Handler>>> = {
  decide: () => say({ yes: true }),
  open: () => say({ due: null }),
  until: () => say({ more: false }),
  gather: ({ ask: { owned, unit } }) =>
    say({ output: new Json(`[${unit.units!.map(({ no }) => owned.outputOf(no)).join()}]`) }),
  timeout: () => {
    throw new Error('its time is over')
  },
}

function nameOf({ scope, key }: Unit): string {
  const own = typeof key === 'number' ? '*' : key
  return scope === null ? '' : scope.scope === null ? own : `${nameOf(scope)}.${own}`
}
