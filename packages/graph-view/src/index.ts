export { type Drawing, type Shape, shape, svgText } from './drawing.ts'
export { type GlyphState, glyph, glyphOf, shownState, stateClass } from './glyphs.ts'
export { drawGraph, drawMinimap, type Graph, type GraphNode, type GraphOptions, type View } from './graph.ts'
export {
  type Layout,
  type LayoutEdge,
  type LayoutNode,
  type LayoutStep,
  layoutGraph,
  type Point,
} from './layout.ts'
export type * from './model.ts'
export { barOf, type Segment, type Tick, type TimeScale, type TimeSpan, ticksOf, timeScale } from './scale.ts'
export { type ForwardState, type StepState, stateAt, type UndoState } from './state.ts'
export { drawStrip, type Strip, type StripStep } from './strip.ts'
export { drawingStyle, fileStyle } from './style.ts'
export { fitText, safeText, textWidth } from './text.ts'
export { clockText, dateText, dayText, durationText, zoneText } from './time.ts'
export { links, type RowLinks, type TimelineOptions } from './timeline/plan.ts'
export type { TimelineRow } from './timeline/row.ts'
export { drawLinks, drawTimeline, type Timeline } from './timeline.ts'
export { timelineText } from './timeline-text.ts'
export { type UndoPlace, undoOrder, whyNoUndo, wouldUndo } from './undo.ts'
