export { type Drawing, type Shape, shape, svgText } from './drawing.ts'
export type * from './model.ts'
