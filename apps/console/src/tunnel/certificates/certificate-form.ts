/** A certificate of the user's own, in PEM. */
export interface CertificateForm {
  certificate: string;
  key: string;
}
