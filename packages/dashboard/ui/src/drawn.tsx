import type { Drawing, Shape } from '@belay/graph-view'
import { type ComponentChildren, h } from 'preact'

/** A drawing as elements. */
export function Drawn({
  drawing: { width, height, shapes },
  label,
  role,
  children,
}: {
  readonly drawing: Drawing
  readonly label: string
  readonly role?: 'tree'
  readonly children?: ComponentChildren
}) {
  return (
    <svg
      class="drawing"
      role={role}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      aria-label={label}
    >
      {shapes.map(elementOf)}
      {children}
    </svg>
  )
}

export function elementOf(shape: Shape | string): ComponentChildren {
  if (typeof shape === 'string') return shape
  return h(shape.tag, shape.attributes, ...shape.children.map(elementOf))
}
