import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A self-signed certificate for one host name, and its key, as PEM. Node can read certificates, and make none. */
export function selfSigned(hostName: string): { readonly certificate: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(hostName)))))
  const alternative = sequence(der(0x82, Buffer.from(hostName)))
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    name,
    sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z'))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(ALTERNATIVE_NAME, der(0x04, alternative)))),
  )
  const signature = Buffer.concat([Buffer.of(0), sign('sha256', signed, privateKey)])
  return {
    certificate: pem(sequence(signed, ECDSA_WITH_SHA256, der(0x03, signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

const COMMON_NAME = Buffer.from('0603550403', 'hex')
const ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex')
const ECDSA_WITH_SHA256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'))

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts)
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').replaceAll(/.{64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}
