import { Component, type ComponentChildren } from 'preact'
import { Blank } from './answer.tsx'

interface BoundaryProps {
  readonly children: ComponentChildren
}

/** A screen that cannot be drawn says so, and the navigation stays. */
export class Boundary extends Component<BoundaryProps, { readonly error?: unknown }> {
  static override getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override componentDidCatch(error: unknown) {
    console.error(error)
  }

  render({ children }: BoundaryProps, { error }: { readonly error?: unknown }) {
    if (error === undefined) return children
    return (
      <Blank state="failed" title="This screen cannot be drawn">
        <p>{String(error)}</p>
        <p>This is a defect of the dashboard: please report it. The runs themselves are not affected.</p>
      </Blank>
    )
  }
}
