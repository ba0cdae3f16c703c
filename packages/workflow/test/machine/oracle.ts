import type { FirstSpec } from '../../src/machine/kinds/first.ts'
import type { GraphSpec, StepSpec } from '../../src/machine/kinds/graph.ts'
import type { MapSpec } from '../../src/machine/kinds/map.ts'
import type { FunctionSpec } from '../../src/machine/kinds/recorded.ts'
import type { Row } from '../../src/machine/row.ts'
import type { Spec } from '../../src/machine/state.ts'
import type { KeptSpec } from './definitions.ts'

const ENDED: readonly string[] = ['completed', 'skipped', 'failed', 'cancelled', 'undone']
const SCOPES: readonly string[] = ['graph', 'map', 'loop', 'first', 'mailbox', 'function']

export const isEnded = (row: Row): boolean => ENDED.includes(row.status)
const isScope = (spec: Spec): boolean => SCOPES.includes(spec.of.name)

const isStopped = ({ status, note }: Row): boolean => status === 'stopping' || note?.cause?.keep === true

/** What went forward and what was undone, as the world saw it. Names a round of a unit. */
export const effectId = ({ no, round }: Pick<Row, 'no' | 'round'>): string => `${no}:${round}`

/** Judges rows by the definition alone. It never calls the machine. */
export class Oracle {
  def: Spec
  readonly rows = new Map<number, Row>()
  readonly bornAt = new Map<number, number>()
  readonly endedAt = new Map<number, number>()
  /** How often the undo of a round has ended. */
  readonly undone = new Map<string, number>()
  /** Undos that an operator skipped. */
  readonly skipped = new Set<string>()
  /** Rounds whose effect is there: their handler returned, or failed after it. */
  readonly succeeded = new Set<string>()
  /** Which unit a scope’s key and round mean. */
  readonly #named = new Map<string, number>()
  /** Rounds of which a handler may have been called. */
  readonly touched = new Set<string>()
  /** Numbers of the units of each scope that has any, by birth. */
  readonly #within = new Map<number | null, Set<number>>()
  readonly #specs = new Map<number, Spec>()
  #specsOf: Spec | undefined
  readonly #fail: (why: string) => never
  /** Scopes that had told their outcome when a scope above them was stopped: from then on their losers are its matter. */
  readonly #left = new Set<number>()
  #clock = 0

  constructor(def: Spec, fail: (why: string) => never) {
    this.def = def
    this.#fail = fail
  }

  unitsOf(no: number): readonly Row[] {
    const within = this.#within.get(no)
    return within === undefined ? [] : Array.from(within, (each) => this.rows.get(each)!)
  }

  parentOf({ scope }: Row): Row | null {
    return scope === null ? null : this.rows.get(scope)!
  }

  specOf(row: Row): Spec {
    if (this.#specsOf !== this.def) this.#specs.clear()
    this.#specsOf = this.def
    const kept = this.#specs.get(row.no)
    if (kept !== undefined) return kept
    const spec = this.#readSpec(row)
    this.#specs.set(row.no, spec)
    return spec
  }

  #readSpec(row: Row): Spec {
    const parent = this.parentOf(row)
    if (parent === null) return this.def
    const spec = this.specOf(parent)
    switch (spec.of.name) {
      case 'graph':
        return (spec as GraphSpec).steps.find(({ name }) => name === row.key)!
      case 'first':
        return (spec as FirstSpec).each[row.key as number]!
      case 'function':
        return (spec as FunctionSpec).steps[String(row.key).split('#')[0]!]!
      default:
        return (spec as MapSpec).each
    }
  }

  above(row: Row): readonly Row[] {
    const parent = this.parentOf(row)
    return parent === null ? [] : [parent, ...this.above(parent)]
  }

  within(row: Row): readonly Row[] {
    return [row, ...this.unitsOf(row.no).flatMap((each) => this.within(each))]
  }

  /** `compensate`: of the scope that is undone as one, or its own. */
  #hadEffect(row: Row, compensate = this.specOf(row).compensate): boolean {
    if (row.status === 'undone') return false
    if ((row.of ?? row.status) === 'completed' || this.succeeded.has(effectId(row))) return true
    return compensate === 'started' && this.touched.has(effectId(row)) && row.status !== 'skipped'
  }

  #effectWithin(row: Row, compensate: Spec['compensate']): boolean {
    if (!isScope(this.specOf(row))) return this.#hadEffect(row, compensate)
    return (
      row.status !== 'undone' && this.unitsOf(row.no).some((each) => this.#effectWithin(each, compensate))
    )
  }

  hasPivot(row: Row): boolean {
    return this.within(row).some(
      (each) => this.specOf(each).pivot === true && (each.of ?? each.status) === 'completed',
    )
  }

  /** Leaves, or scopes undone as one, in the row’s subtree, whose effect is there. */
  owing(row: Row): readonly Row[] {
    const spec = this.specOf(row)
    if (!isScope(spec)) {
      const owes =
        spec.of.name === 'child'
          ? this.#owesChild(row)
          : spec.compensate !== undefined && this.#hadEffect(row)
      return owes ? [row] : []
    }
    if (spec.compensate === undefined)
      return row.status === 'undone' ? [] : this.unitsOf(row.no).flatMap((each) => this.owing(each))
    const id = effectId(row)
    const isSettled = row.status === 'undone' || this.undone.has(id) || this.skipped.has(id)
    return !isSettled && this.#effectWithin(row, spec.compensate) ? [row] : []
  }

  /** Whatever became of a child that was started is undone, unless it is nobody’s or its effects are to stay. */
  #owesChild(row: Row): boolean {
    const { keeps, detached } = this.specOf(row) as KeptSpec
    if (detached === true || (keeps === true && (this.#hadEffect(row) || row.note?.['kept'] === true)))
      return false
    return row.status !== 'undone' && (row.of ?? row.status) !== 'skipped' && this.touched.has(effectId(row))
  }

  /** What must be undone before this one. */
  #comesAfter(row: Row): readonly Row[] {
    const parent = this.parentOf(row)!
    const all = this.unitsOf(parent.no)
    switch (this.specOf(parent).of.name) {
      case 'graph':
        return all.filter((each) => (this.specOf(each) as StepSpec).after.includes(row.key as string))
      case 'loop':
      case 'mailbox':
        return all.filter(({ key }) => key > row.key)
      case 'function':
        return all.filter(
          ({ no }) => this.endedAt.has(row.no) && this.bornAt.get(no)! > this.endedAt.get(row.no)!,
        )
      case 'first':
        return row.note?.['won'] === true ? all.filter(({ note }) => note?.['won'] !== true) : []
      default:
        return []
    }
  }

  #mustHaveEnded(row: Row): readonly Row[] {
    const parent = this.parentOf(row)!
    const all = this.unitsOf(parent.no)
    const kind = this.specOf(parent).of.name
    if (kind === 'graph')
      return all.filter(({ key }) => (this.specOf(row) as StepSpec).after.includes(key as string))
    return kind === 'loop' || kind === 'mailbox' ? all.filter(({ key }) => key < row.key) : []
  }

  judgeBegin(row: Row): void {
    for (const scope of this.above(row)) {
      if (scope.status !== 'open' && scope.status !== 'parked') {
        this.#fail(`${row.no} begins in ${scope.no}, which is ${scope.status}`)
      }
    }
    for (const { no, status, of, note } of this.#mustHaveEnded(row)) {
      const isOver =
        note?.told === true ||
        ['completed', 'skipped', 'failed'].includes(status) ||
        (status === 'undone' && of === 'failed')
      if (!isOver) this.#fail(`${row.no} begins before ${no} has ended: ${status}`)
    }
    const parent = this.parentOf(row)!
    const spec = this.specOf(parent)
    if (spec.of.name !== 'map') return
    const begun = this.unitsOf(parent.no).filter((each) => each.status !== 'pending' && !isEnded(each))
    const window = parent.note?.['window'] as number | undefined
    if (begun.length > (window ?? 1_024)) this.#fail(`too many items of ${parent.no}`)
  }

  /** `flying`: asks that are with somebody, by unit. */
  judgeUndo(row: Row, flying: readonly { readonly unit: number; readonly phase: string }[]): void {
    for (const later of this.#comesAfter(row)) {
      for (const each of this.owing(later)) this.#fail(`undo of ${row.no} before ${each.no}`)
    }
    const top = this.above(row).findLast(({ status }) => status === 'undoing')
    for (const { unit, phase } of top === undefined ? [] : flying) {
      const other = this.rows.get(unit)!
      const isForward = phase !== 'undo' && phase !== 'body' && other.status !== 'undoing'
      if (isForward && this.above(other).some(({ no }) => no === top!.no))
        this.#fail(`undo of ${row.no} while ${unit} runs`)
    }
    if (row.status === 'undone') this.#fail(`undo of ${row.no} again`)
  }

  /** Takes the rows of a commit. */
  take(changed: readonly Row[], dropped: readonly number[]): void {
    const before = new Map(changed.map(({ no }) => [no, this.rows.get(no)]))
    for (const no of dropped) this.#drop(no)
    for (const row of changed) {
      const old = before.get(row.no)
      this.#keep(row)
      if (old !== undefined && old.serial > row.serial) this.#fail(`the serial of ${row.no} went back`)
      if (old !== undefined && old.round > row.round) this.#fail(`the round of ${row.no} went back`)
      // A stand-in takes the place of what was undone in the same round.
      if (old?.status === 'undone' && row.status === 'skipped') this.succeeded.delete(effectId(row))
      if (row.status === 'pending') this.#left.delete(row.no)
      if (row.note?.told === true && this.above(row).some(isStopped)) this.#left.add(row.no)
      if (row.status === 'undone' && row.note?.skippedUndo === true) this.skipped.add(effectId(row))
      const name = `${row.scope}/${row.key}:${row.round}`
      const named = this.#named.get(name)
      if (named !== undefined && named !== row.no)
        this.#fail(`key ${name} of ${named} is used again by ${row.no}`)
      // Of what was never asked no key was used.
      if (row.serial > 0) this.#named.set(name, row.no)
      this.#clock += 1
      const isCalledAgain = old?.note?.['called'] === undefined && row.note?.['called'] === true
      if (old === undefined || isCalledAgain) this.bornAt.set(row.no, this.#clock)
      if (isEnded(row) && !(old !== undefined && isEnded(old))) this.endedAt.set(row.no, this.#clock)
      if (!isEnded(row) && row.status !== 'undoing' && row.status !== 'stuck') this.endedAt.delete(row.no)
    }
    for (const row of changed) this.#judgeChange(row, before)
  }

  #keep(row: Row): void {
    this.rows.set(row.no, row)
    const within = this.#within.get(row.scope)
    if (within === undefined) this.#within.set(row.scope, new Set([row.no]))
    else within.add(row.no)
  }

  #drop(no: number): void {
    const row = this.rows.get(no)
    if (row === undefined) return
    this.rows.delete(no)
    this.#within.get(row.scope)!.delete(no)
  }

  #judgeChange(row: Row, before: ReadonlyMap<number, Row | undefined>): void {
    const old = before.get(row.no)
    const begins =
      (old === undefined || old.status === 'pending') && ['running', 'waiting', 'open'].includes(row.status)
    if (begins && row.scope !== null) this.judgeBegin(row)
    const isFailing = row.status === 'stopping' && old?.status === 'open' && row.note?.cause?.failed === true
    if (isFailing && this.within(row).some((each) => this.#isPassed(before.get(each.no) ?? each, old))) {
      this.#fail(`${row.no} has passed a pivot and fails`)
    }
    if (row.status === 'undoing' && row.note?.cause !== undefined && this.hasPivot(row)) {
      this.#fail(`${row.no} has passed a pivot and is undone`)
    }
    const spec = this.specOf(row)
    const isOne = !isScope(spec) || spec.compensate !== undefined
    const isCounted = isOne && spec.of.name !== 'child' && !this.skipped.has(effectId(row))
    if (row.status === 'undone' && old?.status !== 'undone' && isCounted) {
      const times = this.undone.get(effectId(row))
      if (times !== 1) this.#fail(`${row.no} says undone, and its undo ended ${times} times`)
    }
  }

  /** It had completed when the scope was still open. */
  #isPassed(row: Row, scope: Row | undefined): boolean {
    return scope !== undefined && this.specOf(row).pivot === true && row.status === 'completed'
  }

  /** Once the run has ended. */
  judgeEnd(): void {
    const root = this.rows.get(0)!
    for (const row of this.rows.values()) this.#judgeEndOf(row)
    for (const row of this.rows.values())
      if (this.specOf(row).of.name === 'first' && row.status === 'completed') this.#judgeFirst(row)
    if (root.status !== 'completed' && root.note?.cause?.keep !== true && !this.hasPivot(root)) {
      for (const each of this.owing(root)) this.#fail(`the effect of ${each.no} is left`)
    }
    for (const [id, times] of this.undone) if (times > 1) this.#fail(`undone twice: ${id}`)
  }

  #judgeEndOf(row: Row): void {
    const above = this.above(row)
    if (!isEnded(row) && row.status !== 'pending') this.#fail(`${row.no} is ${row.status} after the end`)
    const isWhole = above.length > 0 && above.every(({ status }) => status === 'completed')
    if (row.status === 'pending' && isWhole) this.#fail(`${row.no} never began in a completed scope`)
    const cause = row.note?.cause
    if (cause === undefined || cause.keep === true || row.note?.['won'] === true || row.status === 'pending')
      return
    if (this.#isSettledAbove(row) || this.hasPivot(row)) return
    for (const each of this.owing(row)) {
      if (!this.skipped.has(effectId(each))) this.#fail(`the effect of ${each.no} is left in ${row.no}`)
    }
  }

  /** A scope above is undone as one, or keeps all effects. */
  #isSettledAbove(row: Row): boolean {
    return this.above(row).some((scope) => {
      const spec = this.specOf(scope)
      const id = effectId(scope)
      const isOne = isScope(spec) && spec.compensate !== undefined
      return (
        scope.note?.cause?.keep === true ||
        this.#left.has(scope.no) ||
        // Past its pivot nothing of it is undone.
        (['failed', 'cancelled'].includes(scope.status) && this.hasPivot(scope)) ||
        (isOne && (scope.status === 'undone' || this.undone.has(id) || this.skipped.has(id)))
      )
    })
  }

  #judgeFirst(row: Row): void {
    const { count, losers } = this.specOf(row) as FirstSpec
    const units = this.unitsOf(row.no)
    const won = units.filter(({ note }) => note?.['won'] === true)
    if (won.length !== count) this.#fail(`${row.no} has ${won.length} winners`)
    if (won.some(({ status }) => status !== 'completed'))
      this.#fail(`a winner of ${row.no} has not completed`)
    if (this.#left.has(row.no) || this.#isSettledAbove(row)) return
    for (const loser of losers === 'undo' ? units.filter((each) => !won.includes(each)) : []) {
      if (loser.status === 'skipped' || this.hasPivot(loser)) continue
      const isItself = (each: Row) => each === loser && loser.status === 'failed'
      for (const each of this.owing(loser)) {
        if (!isItself(each) && !this.skipped.has(effectId(each)))
          this.#fail(`loser ${loser.no} of ${row.no} is not undone: ${each.no}`)
      }
    }
  }
}
