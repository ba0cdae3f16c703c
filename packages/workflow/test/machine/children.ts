import type { MailOut } from '../../src/machine/changes.ts'
import { effectId } from './oracle.ts'
import type { World } from './world.ts'

type ChildState =
  | 'on'
  | 'cancelling'
  | 'undoing'
  | 'done'
  | 'failed'
  | 'undone'
  | 'forgotten'
  | 'detached'
  | 'telling'

/** A child that is told to go on: one that has completed says so again. */
const AGAIN: Readonly<Partial<Record<ChildState, ChildState>>> = {
  failed: 'on',
  forgotten: 'on',
  done: 'telling',
}

const UNDER_WAY: ReadonlySet<ChildState> = new Set<ChildState>(['on', 'cancelling', 'undoing', 'telling'])

interface Child {
  readonly unit: number
  state: ChildState
}

/** The runs that a run has started, by id. */
export class Children {
  readonly #world: World
  readonly #kids = new Map<string, Child>()

  constructor(world: World) {
    this.#world = world
  }

  start({ id, unit }: { readonly id: string; readonly unit: number }): void {
    const { oracle } = this.#world
    if (this.#kids.has(id)) this.#world.fail(`child ${id} twice`)
    const row = oracle.rows.get(unit)!
    oracle.touched.add(effectId(row))
    const spec = oracle.specOf(row) as { readonly detached?: true }
    this.#kids.set(id, { unit, state: spec.detached === true ? 'detached' : 'on' })
  }

  hear({ to, type }: MailOut): void {
    if (type === 'reply' || type === 'pause' || type === 'resume') return
    const { oracle } = this.#world
    const kid = this.#kids.get(to) ?? this.#world.fail('mail to no child')
    if (type === 'cancel' && kid.state === 'on') kid.state = 'cancelling'
    if (type === 'retry') kid.state = AGAIN[kid.state] ?? kid.state
    if (type !== 'undo') return
    if (kid.state === 'on' || kid.state === 'cancelling') this.#world.fail('undo of a child that goes on')
    kid.state = 'undoing'
    oracle.judgeUndo({ ...oracle.rows.get(kid.unit)!, status: 'undoing' }, [])
  }

  /** One child ends, or is undone. Whether there was one. */
  step(): boolean {
    for (const [key, kid] of this.#kids) {
      const mail = this.#isHeard(key, kid) ? this.#mailOf(kid) : undefined
      if (mail === undefined) continue
      this.#world.fold({ type: 'mail', unit: kid.unit, mail: { child: key, ...mail } })
      return true
    }
    return false
  }

  #mailOf(kid: Child): object | undefined {
    const { random, oracle } = this.#world
    if (kid.state === 'telling' || (kid.state === 'on' && random.chance(0.5))) {
      kid.state = kid.state === 'telling' || random.chance(0.75) ? 'done' : 'failed'
      return { ended: kid.state === 'done' ? 'completed' : 'compensated', output: 'output' }
    }
    if (kid.state === 'cancelling') {
      kid.state = random.chance(0.3) ? 'done' : 'failed'
      return { ended: kid.state === 'done' ? 'completed' : 'cancelled' }
    }
    if (kid.state !== 'undoing') return undefined
    kid.state = random.chance(0.1) ? 'done' : 'undone'
    if (kid.state === 'undone') this.#world.countUndo(oracle.rows.get(kid.unit)!, -1)
    return kid.state === 'done' ? { refused: true } : { undone: true }
  }

  /** It is the child of the round that its step is in. */
  #isHeard(key: string, { unit }: Child): boolean {
    return this.#world.oracle.rows.has(unit) && this.#world.childIdOf(unit) === key
  }

  get areUnderWay(): boolean {
    const { rows } = this.#world.oracle
    return [...this.#kids.values()].some(({ unit, state }) => rows.has(unit) && UNDER_WAY.has(state))
  }

  /** Nobody hears of the child of a step any more. */
  forget(unit: number): void {
    for (const kid of this.#kids.values())
      if (kid.unit === unit && UNDER_WAY.has(kid.state)) kid.state = 'forgotten'
  }

  judgeEnd(): void {
    for (const [id, { unit, state }] of this.#kids) {
      const goesOn = state === 'on' && this.#world.oracle.rows.has(unit)
      if (goesOn) this.#world.fail(`child ${id} goes on after the end`)
    }
  }
}
