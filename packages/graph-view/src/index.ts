export { commandText, quoted, REASON_OPEN, versionFlags } from './commands.ts'
export { type ComparedStep, compareRuns, partingText, type StepOutcome } from './compared.ts'
export { type Drawing, type Shape, shape, svgText } from './drawing.ts'
export { type GlyphState, glyph, glyphOf, shownState, stateClass } from './glyphs.ts'
export { drawUnion, type UnionNote } from './graph/union-graph.ts'
export { drawGraph, type Graph, type GraphNode, type GraphOptions, type View } from './graph.ts'
export { drawHeat, HEAT_PITCH, type Heat, type HeatCell, type ItemStates } from './heat.ts'
export {
  type Layout,
  type LayoutEdge,
  type LayoutNode,
  type LayoutStep,
  layoutGraph,
  type Point,
} from './layout.ts'
export { drawMinimap } from './minimap.ts'
export type * from './model.ts'
export { drawPair } from './pair.ts'
export { barOf, type Segment, type Tick, type TimeScale, type TimeSpan, ticksOf, timeScale } from './scale.ts'
export { type ForwardState, type StepState, stateAt, type UndoState } from './state.ts'
export { drawStrip, type Strip, type StripStep } from './strip.ts'
export { drawingStyle, fileStyle } from './style.ts'
export { fitText, safeText, textWidth } from './text.ts'
export { age, clockText, dateText, dayText, span, zoneText } from './time.ts'
export { links, type Plan, planTimeline, type RowLinks, type TimelineOptions } from './timeline/plan.ts'
export type { TimelineRow } from './timeline/row.ts'
export { drawAxis, drawLinks, drawPlan, drawTimeline, type Timeline, type TimelinePart } from './timeline.ts'
export { timelineText } from './timeline-text.ts'
export { type UndoPlace, undoOrder, whyNoUndo, wouldUndo } from './undo.ts'
export { type GraphChange, type GraphStep, type UnitedStep, unite } from './union.ts'
export { actionText, participleOf } from './verbs.ts'
