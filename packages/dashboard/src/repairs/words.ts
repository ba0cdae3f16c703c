const FIGURES = new Intl.NumberFormat('en')

export function figure(count: number): string {
  return FIGURES.format(count)
}

export function runs(count: number): string {
  return `${figure(count)} run${count === 1 ? '' : 's'}`
}
