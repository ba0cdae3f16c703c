import type { Store } from '@belay/workflow/store'

export type Verb = keyof Store
/** What it throws or rejects with before a verb means that nothing was done, and after it that the answer is lost. What it awaits holds the verb up. */
export type Fault = (verb: Verb, when: 'before' | 'after', given: readonly unknown[]) => unknown

/** A store refuses with this. */
export class RefusedFault extends Error {
  readonly refusal: 'data' | 'other'

  constructor(refusal: 'data' | 'other') {
    super(`refused: ${refusal}`)
    this.refusal = refusal
  }
}

/** One worker’s way to its store, which may be cut, held up, or lose what it carries. */
export class Link {
  fault: Fault | null = null
  /** A verb was done, whether its answer gets back or not. */
  onDone: ((verb: Verb, given: readonly unknown[], answer: unknown) => void) | null = null
  /** How often each verb was asked. */
  readonly asked = new Map<string, number>()
  readonly store: Store

  constructor(store: Store) {
    this.store = new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (name === 'refusalOf')
          return (error: unknown) => (error instanceof RefusedFault ? error.refusal : target.refusalOf(error))
        if (typeof value !== 'function' || !VERBS.has(name as Verb)) return value
        return (...given: readonly unknown[]) => this.#carry(name as Verb, value.bind(target), given)
      },
    })
  }

  async #carry(
    verb: Verb,
    act: (...given: readonly unknown[]) => unknown,
    given: readonly unknown[],
  ): Promise<unknown> {
    this.asked.set(verb, (this.asked.get(verb) ?? 0) + 1)
    await this.fault?.(verb, 'before', given)
    const answer = await act(...given)
    this.onDone?.(verb, given, answer)
    await this.fault?.(verb, 'after', given)
    return answer
  }

  /** Nothing gets through any more, and nothing is answered. */
  cut(): void {
    this.fault = () => new Promise(() => {})
  }

  /** The next of these verbs fails, before it has done anything or after it has done all. Resolves once it has. */
  loseNext(verb: Verb, when: 'before' | 'after'): Promise<void> {
    return new Promise((resolve) => {
      this.fault = (asked, at) => {
        if (asked !== verb || at !== when) return
        this.fault = null
        resolve()
        throw new Error(`lost ${when} ${verb}`)
      }
    })
  }
}

const VERBS: ReadonlySet<Verb> = new Set<Verb>([
  ...([
    'start',
    'send',
    'answers',
    'register',
    'renew',
    'leave',
    'bump',
    'sweep',
    'claim',
    'take',
    'load',
  ] as const),
  ...(['peek', 'mailOf', 'payloads', 'commit'] as const),
])
