import { createJimp } from '@jimp/core'
import jpeg from '@jimp/js-jpeg'
import { methods as blit } from '@jimp/plugin-blit'
import { methods as resize } from '@jimp/plugin-resize'

// Plain JavaScript: there is nothing to compile or to download when it is installed.
const Jimp = createJimp({ formats: [jpeg], plugins: [resize, blit] })

export interface Image {
  readonly width: number
  readonly height: number
  /** Four bytes for each pixel, row by row: red, green, blue and opacity. */
  readonly bitmap: { readonly data: Buffer }
}

export function whiteImage(size: { readonly width: number; readonly height: number }): Image {
  return new Jimp({ ...size, color: 0xffffffff })
}

export function readJpeg(bytes: Buffer): Promise<Image> {
  return Jimp.fromBuffer(bytes)
}

export function jpegOf(image: Image): Promise<Buffer> {
  return inJimp(image).getBuffer('image/jpeg', { quality: 80 })
}

/** Changes the image. The height follows the width. */
export function resizeTo(image: Image, width: number): Image {
  return inJimp(image).resize({ w: width })
}

/** Draws one image onto another. */
export function drawOnto(image: Image, src: Image, at: { readonly x: number; readonly y: number }): void {
  inJimp(image).blit({ src: inJimp(src), ...at })
}

function inJimp(image: Image) {
  return image as InstanceType<typeof Jimp>
}
