import { PHOTO } from './camera.ts'

/** The widths in which a gallery shows each photograph. The smallest is that of the contact sheet. */
export const WIDTHS = [120, 90, 60, 30] as const

/** A photograph, and who must be named beside it. */
export interface Photo {
  readonly name: string
  readonly credit?: string | undefined
}

/** A photograph in one of the widths. */
export interface Size {
  readonly photo: string
  readonly width: number
}

export interface Picture extends Size {
  readonly file: string
}

export function heightOf(width: number): number {
  return Math.round((width * PHOTO.height) / PHOTO.width)
}
