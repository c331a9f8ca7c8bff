import { createHash } from 'node:crypto';

/** A certificate for `proxy.test` that no authority signed: clients of the tests pin it. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBlzCCAT6gAwIBAgIUEEAqnS27FfAW5P9ap/bZIE4oyK8wCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKcHJveHkudGVzdDAgFw0yNjExMjAyMTE5MzZaGA8yMTI2MTAy
NzIxMTkzNlowFTETMBEGA1UEAwwKcHJveHkudGVzdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABIvbmMiWDj3HSsV+sKjmExvb+mr/imy/G7b6A6z68FeEh00K0k4l
5GvHZEjUZow5FGEN0U6iTESpx+xC0Cgmr06jajBoMB0GA1UdDgQWBBRfvdya6Qfp
KomnHScI9vrxVHC63jAfBgNVHSMEGDAWgBRfvdya6QfpKomnHScI9vrxVHC63jAP
BgNVHRMBAf8EBTADAQH/MBUGA1UdEQQOMAyCCnByb3h5LnRlc3QwCgYIKoZIzj0E
AwIDRwAwRAIgfUyigL74gvVlH/8OtSl/NzgC2xD35fMpOLDsESkBXuwCIFWwbCEo
fjcCXsPcpG980JkPsTG2DLVw14dZrDehcVxS
-----END CERTIFICATE-----`;

export const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmEmHVL5nhmXj7s9U
9ZYUEqrBxHV4N7Ql0HGb1xq3MgahRANCAASL25jIlg49x0rFfrCo5hMb2/pq/4ps
vxu2+gOs+vBXhIdNCtJOJeRrx2RI1GaMORRhDdFOokxEqcfsQtAoJq9O
-----END PRIVATE KEY-----`;

/** SHA-256 of the certificate, hex. */
export const FINGERPRINT = createHash('sha256')
  .update(Buffer.from(CERTIFICATE.replaceAll(/-----.*-----|\n/g, ''), 'base64'))
  .digest('hex');
