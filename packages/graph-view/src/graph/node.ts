import { attemptsOf, roundOf } from '../attempts.ts'
import { type Shape, shape } from '../drawing.ts'
import { type GlyphState, glyph, shownState, stateClass } from '../glyphs.ts'
import type { LayoutNode } from '../layout.ts'
import { drawMarks, marksWidth } from '../marks.ts'
import type { ViewAttempt, ViewStep } from '../model.ts'
import { numberBadge } from '../numbers.ts'
import { type StepState, succeededItems } from '../state.ts'
import { px, safeText, textShape, visibleText } from '../text.ts'
import { span } from '../time.ts'
import type { Scene } from './scene.ts'

/** Whether a step has not begun, or never will: drawn dashed. */
export function isGhost({ forward, undo }: StepState): boolean {
  return undo === undefined && ['pending', 'cancelled', 'skipped'].includes(forward)
}

export function drawNode(
  scene: Scene,
  step: ViewStep,
  { x, y, width, height }: LayoutNode,
  /** Its place among all nodes, as only some of them may be drawn. */
  { index, count, isStop }: { readonly index: number; readonly count: number; readonly isStop: boolean },
): { readonly shape: Shape; readonly label: string } {
  const state = scene.states.get(step.name)!
  const shown = shownState(state)
  const room = width - 42
  const box = { x: px(x), y: px(y), width, height, rx: 7 }
  const inside = [
    shape('rect', { class: 'ground', ...box }),
    shape('rect', { class: 'box', ...box }),
    glyph(shown, x + 13, y + 11),
    textShape(step.name, { class: 'name', x: px(x + 33), y: px(y + 22), widthMax: room, size: 13 }),
    ' ',
    textShape(lineOf(scene, step, state), { x: px(x + 33), y: px(y + 40), widthMax: room }),
    ' ',
    ...progress(scene, step, { x: x + 12, y: y + height - 9, width: width - 24 }),
    ...marked(step, { x: x + 8, y: y + height }),
    ...numberOf(scene, step, state, { x: x + width - 6, y }),
  ] as const
  const label = `${visibleText(inside)}; ${safeText(spoken(scene, step, state))}`
  const look = `node ${stateClass(shown)}${isGhost(state) ? ' ghost' : ''}`
  const group = {
    class: look,
    'data-step': safeText(step.name),
    role: 'treeitem',
    'aria-posinset': index + 1,
    'aria-setsize': count,
    tabindex: isStop ? 0 : -1,
    'aria-label': label,
  }
  return { shape: shape('g', group, ...inside), label }
}

/** On the lower edge, as the number of its undo is on the upper one. */
function marked(step: ViewStep, { x, y }: { readonly x: number; readonly y: number }): readonly Shape[] {
  const width = marksWidth(step)
  if (width === 0) return []
  const box = { x: px(x), y: px(y - 5), width: px(width + 4), height: 16, rx: 8 }
  return [shape('rect', { class: 'mark-box', ...box }), ...drawMarks(step, { x: x - 1, y: y + 7 })]
}

function numberOf(
  { order }: Scene,
  step: ViewStep,
  { undo }: StepState,
  at: { x: number; y: number },
): readonly Shape[] {
  const number = order.get(step.name)
  // In the order of the whole undo, but not a part of it yet: it is still running.
  return number === undefined || undo === undefined ? [] : [numberBadge(number, undo, { ...at, height: 18 })]
}

const KINDS: Partial<Record<ViewStep['kind'], string>> = {
  choose: 'choice',
  map: 'map',
  repeat: 'loop',
  sleep: 'timer',
  signal: 'signal',
  approval: 'approval',
  poll: 'poll',
  child: 'child run',
}

function spoken({ order }: Scene, step: ViewStep, { forward, undo }: StepState): string {
  const number = order.get(step.name)
  return [
    step.name,
    ...[KINDS[step.kind] ?? []].flat(),
    forward,
    ...(undo === undefined ? [] : [undo]),
    ...(number === undefined ? [] : [`undo ${number} of ${order.size}`]),
  ].join(', ')
}

/** The second line: the state as a word, and the one thing that matters about it. */
function lineOf(scene: Scene, step: ViewStep, { forward, undo }: StepState): string {
  const undos = begun(scene, step, 'undo')
  const tries = counted(scene, step, 'undo', undos)
  if (undo === 'to undo') return `${forward}, to undo`
  if (undo === 'parked') return `parked${tries > 1 ? `, ${tries} attempts` : ''}`
  if (undo === 'undoing') return `undoing${tries > 1 ? `, attempt ${tries}` : ''}`
  if (undo === 'undone') {
    if (step.undo?.skipped === true) return 'marked as undone'
    if (step.items !== undefined)
      return `${undoneItems(scene, step)} of ${succeededItems(step, scene.at)} undone`
    return `undone${lengthOf(undos)}`
  }
  return forwardLine(scene, step, forward)
}

function forwardLine(scene: Scene, step: ViewStep, forward: StepState['forward']): string {
  const attempts = begun(scene, step, 'forward')
  const tries = counted(scene, step, 'forward', attempts)
  if (step.items !== undefined && attempts.length > 0) {
    const { completed, failed, total } = shares(scene, step)
    return `${completed} of ${total}${failed > 0 ? `, ${failed} failed` : ' done'}`
  }
  if (forward === 'completed') return `completed${lengthOf(attempts)}`
  if (forward === 'failed') return `failed${tries > 1 ? `, ${tries} attempts` : ''}`
  if (forward === 'running') return `running${tries > 1 ? `, attempt ${tries}` : ''}`
  if (forward === 'waiting')
    return attempts.at(-1)?.ended === 'retrying' ? `attempt ${tries + 1} follows` : waitsFor(step)
  return forward === 'pending' ? 'not begun' : forward
}

function waitsFor({ kind }: ViewStep): string {
  if (kind === 'approval') return 'waits for a decision'
  if (kind === 'signal') return 'waits for a signal'
  return kind === 'child' ? 'waits for its child' : 'waits'
}

/** Only if the first attempt is known: else it took longer than that. */
function lengthOf(attempts: readonly ViewAttempt[]): string {
  const [first, last] = [attempts[0], attempts.at(-1)]
  if (first?.attempt !== 1 || last?.endAt === undefined) return ''
  return ` in ${span(last.endAt - first.startAt)}`
}

function begun(
  { at, round }: Scene,
  step: ViewStep,
  direction: ViewAttempt['direction'],
): readonly ViewAttempt[] {
  return attemptsOf(step, direction, roundOf(step, round)).filter(({ startAt }) => startAt <= at)
}

function counted(
  { at, run }: Scene,
  step: ViewStep,
  direction: ViewAttempt['direction'],
  known: readonly ViewAttempt[],
): number {
  const newest = direction === 'forward' ? step.attempts : (step.undo?.attempts ?? 0)
  return Math.max(known.at(-1)?.attempt ?? 0, at >= run.readAt && step.items === undefined ? newest : 0)
}

function undoneItems({ at, run }: Scene, { items }: ViewStep): number {
  const { statuses, some, total } = items!
  if (at >= run.readAt || some.length < total) return statuses.compensated ?? 0
  return some.filter(({ undoEndAt }) => undoEndAt !== undefined && undoEndAt <= at).length
}

/** How many items of a map are in which state at an instant. If not all are known one by one, the newest counts. */
function shares(
  { at, run }: Scene,
  step: ViewStep,
): { completed: number; failed: number; running: number; total: number } {
  const { statuses, some, total, ended } = step.items!
  const completed = succeededItems(step, at)
  if (at >= run.readAt || some.length < total)
    return {
      completed,
      failed: statuses.failed ?? Math.max(0, ended - completed),
      running: statuses.running ?? 0,
      total,
    }
  const failed = some.filter(
    ({ status, endAt }) => status === 'failed' && endAt !== undefined && endAt <= at,
  ).length
  const running = some.filter(
    ({ startAt, endAt }) => startAt !== undefined && startAt <= at && !(endAt! <= at),
  ).length
  return { completed, failed, running, total }
}

function progress(
  scene: Scene,
  step: ViewStep,
  { x, y, width }: { x: number; y: number; width: number },
): readonly Shape[] {
  if (step.items === undefined) return []
  const { completed, failed, running, total } = shares(scene, step)
  const undone = scene.states.get(step.name)?.undo === undefined ? 0 : undoneItems(scene, step)
  const parts: readonly (readonly [GlyphState, number])[] = [
    ['undone', undone],
    ['completed', completed - undone],
    ['failed', failed],
    ['running', running],
  ]
  let from = x
  const bars = parts.flatMap(([state, count]) => {
    const part = (width * count) / Math.max(1, total)
    if (part <= 0) return []
    const bar = shape('rect', {
      class: `bar ${stateClass(state)}`,
      x: px(from),
      y: px(y),
      width: px(part),
      height: 4,
    })
    from += part
    return [bar]
  })
  return [shape('rect', { class: 'track', x: px(x), y: px(y), width: px(width), height: 4 }), ...bars]
}
