import type { Drawing, Shape } from '@belay/graph-view'
import { type ComponentChildren, h } from 'preact'
import { useMemo } from 'preact/hooks'

/** A drawing as elements. What was drawn before and is the same object is not even compared. */
export function Drawn({
  drawing: { width, height, shapes },
  label,
  role,
  scale = 1,
  children,
}: {
  readonly drawing: Drawing
  readonly label: string
  readonly role?: 'tree' | 'img'
  readonly scale?: number
  readonly children?: ComponentChildren
}) {
  const elements = useMemo(() => shapes.map(elementOf), [shapes])
  return (
    <svg
      class="drawing"
      role={role}
      viewBox={`0 0 ${width} ${height}`}
      width={width * scale}
      height={height * scale}
      aria-label={label}
    >
      {elements}
      {children}
    </svg>
  )
}

/** Rows and nodes keep their elements, and so the focus, while others come and go around them. */
export function elementOf(shape: Shape | string): ComponentChildren {
  if (typeof shape === 'string') return shape
  const { 'data-row': row, 'data-step': step } = shape.attributes
  return h(shape.tag, { ...shape.attributes, key: row ?? step }, ...shape.children.map(elementOf))
}
