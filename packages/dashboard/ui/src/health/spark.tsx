const WIDTH = 240
const HEIGHT = 34

/** A line of figures over time, from 0 to a little more than the largest of them. Its newest figure stands beside it in words. */
export function Spark({ figures, looks }: { readonly figures: readonly number[]; readonly looks: string }) {
  const most = 1.25 * Math.max(1, ...figures)
  const step = WIDTH / Math.max(1, figures.length - 1)
  const points = figures.map((figure, index) => {
    const y = HEIGHT - 2 - (figure / most) * (HEIGHT - 5)
    return `${(index * step).toFixed(1)} ${y.toFixed(1)}`
  })
  // A single figure is a level line.
  if (points.length === 1) points.push(points[0]!.replace('0.0', String(WIDTH)))
  return (
    <svg
      class={`spark ${looks}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class="area" d={`M0 ${HEIGHT}L${points.join('L')}L${WIDTH} ${HEIGHT}z`} />
      <path class="course" d={`M${points.join('L')}`} />
    </svg>
  )
}
