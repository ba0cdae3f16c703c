export { type Drawing, type Shape, shape, svgText } from './drawing.ts'
export {
  type Layout,
  type LayoutEdge,
  type LayoutNode,
  type LayoutStep,
  layoutGraph,
  type Point,
} from './layout.ts'
export type * from './model.ts'
export { type ForwardState, type StepState, stateAt, type UndoState } from './state.ts'
export { type UndoPlace, undoOrder, whyNoUndo, wouldUndo } from './undo.ts'
