import type { ComponentChildren } from 'preact'

export function Code({ children }: { readonly children: ComponentChildren }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
  return <pre tabIndex={0}>{children}</pre>
}
