const PATHS = {
  lens: 'M7 2.5a4.5 4.5 0 1 0 .01 0zM10.5 10.5L14 14',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  sliders: 'M2 5h7M13 5h1M2 11h1M7 11h7M11 3.2v3.6M5 9.2v3.6',
  theme: 'M8 2a6 6 0 1 0 .01 0zM8 2v12M8 5h4.8M8 8h6M8 11h4.8',
  close: 'M4 4l8 8M12 4l-8 8',
  left: 'M10 3L5 8l5 5',
  right: 'M6 3l5 5-5 5',
  up: 'M3 10l5-5 5 5',
  down: 'M3 6l5 5 5-5',
} as const

export function Icon({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 18 18" aria-hidden="true">
      <path d="M2 4h9a3 3 0 0 1 0 6H7a3 3 0 0 0 0 6h9M4.5 1.5L2 4l2.5 2.5" />
    </svg>
  )
}
