import { type Image, whiteImage } from './image.ts'

/** What the camera writes. */
export const PHOTO = { width: 180, height: 120 } as const

const RIDGES = 3

type Colour = readonly [red: number, green: number, blue: number]

/** Takes a photograph of mountains at some time of the day. The same number always gives the same pixels. */
export function photograph(number: number): Image {
  const image = whiteImage(PHOTO)
  const daylight = (Math.sin(number * 1.7) + 1) / 2
  const skylines = Array.from({ length: RIDGES }, (_, ridge) => skyline(number, ridge))
  const ridges = skylines.map((_, ridge) => mix([150, 140, 170], [20, 40, 40], (ridge + 1) / RIDGES))
  for (let y = 0; y < PHOTO.height; y++) {
    const sky = mix([255, 150 + 60 * daylight, 90], [40, 90 + 60 * daylight, 170], y / PHOTO.height)
    for (let x = 0; x < PHOTO.width; x++) {
      // The nearest ridge hides those behind it.
      const ridge = skylines.findLastIndex((heights) => y >= heights[x]!)
      paint(image, y * PHOTO.width + x, ridges[ridge] ?? sky)
    }
  }
  return image
}

/** For each column the first row of a ridge. */
function skyline(number: number, ridge: number): readonly number[] {
  return Array.from({ length: PHOTO.width }, (_, x) => {
    const at = x / (24 - ridge * 5) + number * 3 + ridge * 11
    const wave = Math.sin(at) + Math.sin(at * 2.3) / 2 + Math.abs(Math.sin(at * 5.1)) / 4
    return PHOTO.height * (0.45 + 0.17 * ridge) - wave * 12
  })
}

function mix(from: Colour, to: Colour, share: number): Colour {
  return [0, 1, 2].map((part) => from[part]! + (to[part]! - from[part]!) * share) as unknown as Colour
}

function paint({ bitmap }: Image, pixel: number, [red, green, blue]: Colour): void {
  bitmap.data[pixel * 4] = red
  bitmap.data[pixel * 4 + 1] = green
  bitmap.data[pixel * 4 + 2] = blue
}
