import { drawOnto, type Image, jpegOf, whiteImage } from './image.ts'

const COLUMNS = 4

/** Images of one size side by side, as a JPEG file. */
export function contactSheet(images: readonly Image[]): Promise<Buffer> {
  const { width, height } = images[0]!
  const rows = Math.ceil(images.length / COLUMNS)
  const sheet = whiteImage({ width: COLUMNS * width, height: rows * height })
  for (const [index, image] of images.entries()) {
    drawOnto(sheet, image, { x: (index % COLUMNS) * width, y: Math.floor(index / COLUMNS) * height })
  }
  return jpegOf(sheet)
}
