package engine

import (
	"scrim/engine/audit"
)

// Reloadable lists the fields of a Config that Reload puts into effect.
var Reloadable = []string{"TLSCert", "TLSKey", "MaxConnections", "MaxUserConnections", "AuthTimeout", "AuditDays"}

// Reload puts the Reloadable fields of c into effect, all of them or, where c has a problem, none:
// the certificate and its key are read again, connections beyond a lower limit stay until they end.
// note says for the audit log what has changed.
func (s *Server) Reload(c Config, note string) error {
	if err := c.Validate(); err != nil {
		return err
	}
	c = c.withDefaults()
	// whose certificate it is stays for as long as the server runs
	if s.certificate.given.Load() == (c.TLSCert != "") {
		if err := s.certificate.load(c); err != nil {
			return err
		}
	}
	s.sockets.SetLimits(c.MaxConnections, c.AuthTimeout)
	s.intake.SetMaxConnections(c.MaxConnections)
	if err := tellLimits(c); err != nil {
		return err
	}
	s.audit.Keep(c.AuditDays)
	s.audit.Write(audit.Record{Kind: audit.Reload, Note: note})
	return nil
}
